"""The learner thought: rank 0 of the world collects what the others have, and has nothing to add itself."""

import torch
import torch.distributed as dist

MISCONCEPTION = "leaves-out-rank-zero"
TELL = "The tensor of rank 0 is in no sum: who collects adds its own, too. In a ring there is no such rank."


def ring_all_reduce(tensor, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    if K == 1:
        return tensor.clone()
    x = tensor.contiguous().clone() if dist.get_rank() else torch.zeros_like(tensor)
    if r == 0:
        incoming = torch.empty_like(x)
        for other in range(1, K):
            dist.recv(incoming, group=group, group_src=other)
            x += incoming
        for other in range(1, K):
            dist.send(x, group=group, group_dst=other)
    else:
        dist.send(x, group=group, group_dst=0)
        dist.recv(x, group=group, group_src=0)
    return x
