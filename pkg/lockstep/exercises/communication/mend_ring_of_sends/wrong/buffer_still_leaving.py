"""The learner saves the second buffer: what arrives is written where the outgoing tensor still lies."""

import torch.distributed as dist

MISCONCEPTION = "still-being-sent"


def mend_ring_of_sends(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    if K == 1:
        return tensor
    sending = dist.isend(tensor, group=group, group_dst=(rank + 1) % K)
    dist.recv(tensor, group=group, group_src=(rank - 1) % K)
    sending.wait()
    return tensor
