"""The learner put the chunks together in the order in which they were complete, and not by their numbers."""

import torch
import torch.distributed as dist

MISCONCEPTION = "chunks-out-of-place"
TELL = "All sums are there, and each rank has put their chunks together in an order of its own: chunk i belongs at place i."


def ring_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    chunks = [chunk.clone() for chunk in tensor.flatten().tensor_split(K)]
    for step in range(2 * (K - 1)):
        place = (rank - step - 1) % K
        incoming = torch.empty_like(chunks[place])
        sending = dist.isend(chunks[(rank - step) % K], group=group, group_dst=(rank + 1) % K)
        dist.recv(incoming, group=group, group_src=(rank - 1) % K)
        sending.wait()
        chunks[place] = chunks[place] + incoming if step < K - 1 else incoming
    return torch.cat([chunks[(rank + i) % K] for i in range(K)]).view_as(tensor)
