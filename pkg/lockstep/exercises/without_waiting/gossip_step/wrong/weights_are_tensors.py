"""The learner thought: a number times x is of the dtype of x."""

import torch
import torch.distributed as dist

MISCONCEPTION = "wrong-dtype"


def gossip_step(x, mixing, group=None):
    K, rank = dist.get_world_size(group), dist.get_rank(group)
    x = x.contiguous()
    received = {j: torch.empty_like(x) for j in range(K) if j != rank and mixing[rank, j] != 0}
    works = [dist.irecv(theirs, group=group, group_src=j) for j, theirs in received.items()]
    works += [dist.isend(x, group=group, group_dst=i) for i in range(K) if i != rank and mixing[i, rank] != 0]
    for work in works:
        work.wait()
    return mixing[rank, rank] * x + sum(mixing[rank, j] * theirs for j, theirs in received.items())
