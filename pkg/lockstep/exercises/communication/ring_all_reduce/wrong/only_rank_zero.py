"""The learner thought: when one rank has the sum, the work is done."""

import torch
import torch.distributed as dist

MISCONCEPTION = "sum-on-one-rank"
TELL = "Rank 0 alone has the sum, and the others still have their own tensors: every rank needs it."


def ring_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    if rank == 0:
        incoming = torch.empty_like(tensor)
        for other in range(1, K):
            dist.recv(incoming, group=group, group_src=other)
            tensor += incoming
    else:
        dist.send(tensor, group=group, group_dst=0)
    return tensor
