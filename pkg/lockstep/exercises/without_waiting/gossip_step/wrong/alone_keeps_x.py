"""The learner thought: who has no neighbours keeps what it has."""

import torch
import torch.distributed as dist

MISCONCEPTION = "alone-keeps-x"
TELL = "A rank without neighbours keeps x as it is. It takes its own weight, too: that on the diagonal."


def gossip_step(x, mixing, group=None):
    K, rank = dist.get_world_size(group), dist.get_rank(group)
    x = x.contiguous()
    received = {j: torch.empty_like(x) for j in range(K) if j != rank and mixing[rank, j] != 0}
    works = [dist.irecv(theirs, group=group, group_src=j) for j, theirs in received.items()]
    works += [dist.isend(x, group=group, group_dst=i) for i in range(K) if i != rank and mixing[i, rank] != 0]
    for work in works:
        work.wait()
    if not works:
        return x.clone()
    return mixing[rank, rank].item() * x + sum(mixing[rank, j].item() * theirs for j, theirs in received.items())
