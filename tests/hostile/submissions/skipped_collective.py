"""One rank goes home early, and the others wait for it."""
# exercise: tree_broadcast
# points: 0

import torch.distributed as dist


def tree_broadcast(tensor, src, group=None):
    if dist.get_rank(group) != 0:
        dist.barrier(group)
    return tensor
