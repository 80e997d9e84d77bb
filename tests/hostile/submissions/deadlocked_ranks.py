"""Every rank waits for another one, for ever."""
# exercise: tree_broadcast
# points: 0

import torch.distributed as dist


def tree_broadcast(tensor, src, group=None):
    ranks, rank = dist.get_world_size(group), dist.get_rank(group)
    dist.recv(tensor, group=group, group_src=(rank + 1) % ranks)
