"""The learner thought: a rank's place in the tree depends on K alone, and is computed once."""

import torch
import torch.distributed as dist

MISCONCEPTION = "kept-between-calls"


_places = {}


def tree_broadcast(tensor, src, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    root = dist.get_group_rank(group or dist.group.WORLD, src)
    if (rank, K) not in _places:
        _places[rank, K] = (rank - root) % K
    v, d = _places[rank, K], 1
    held = tensor.clone(memory_format=torch.contiguous_format)
    while d < K:
        if v < d and v + d < K:
            dist.send(held, group=group, group_dst=(rank + d) % K)
        elif d <= v < 2 * d:
            dist.recv(held, group=group, group_src=(rank - d) % K)
        d *= 2
    return held
