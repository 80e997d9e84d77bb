"""The learner counted K rounds for each trip: one for each rank."""

import torch
import torch.distributed as dist

MISCONCEPTION = "one-round-too-many"
TELL = "A trip has one step too many: after K-1 steps each chunk has been everywhere."


def ring_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    total = tensor.clone(memory_format=torch.contiguous_format)
    chunks = total.view(-1).tensor_split(K)
    for step in range(2 * K if K > 1 else 0):
        outgoing, target = chunks[(rank - step) % K], chunks[(rank - step - 1) % K]
        incoming = torch.empty_like(target)
        sending = dist.isend(outgoing, group=group, group_dst=(rank + 1) % K)
        dist.recv(incoming, group=group, group_src=(rank - 1) % K)
        sending.wait()
        if step < K:
            target += incoming
        else:
            target.copy_(incoming)
    return total
