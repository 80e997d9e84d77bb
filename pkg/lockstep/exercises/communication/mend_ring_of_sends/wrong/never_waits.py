"""The learner replaced send by isend, which mends the deadlock, and left it at that."""

import torch
import torch.distributed as dist

MISCONCEPTION = "never-waited"


def mend_ring_of_sends(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    if K == 1:
        return tensor
    received = torch.empty_like(tensor)
    dist.isend(tensor, group=group, group_dst=(rank + 1) % K)
    dist.recv(received, group=group, group_src=(rank - 1) % K)
    return received
