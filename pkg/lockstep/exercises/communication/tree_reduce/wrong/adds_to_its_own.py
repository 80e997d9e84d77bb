"""The learner kept the argument and the sum apart, and added what arrived to the argument, each time."""

import torch
import torch.distributed as dist

MISCONCEPTION = "drops-partial-sums"
TELL = "You add what arrives to the tensor that was given, each time: of what had arrived before nothing is left. Add it to the sum so far."


def tree_reduce(tensor, dst, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    root = dist.get_group_rank(group or dist.group.WORLD, dst)
    v, d = (rank - root) % K, 1
    total, incoming = tensor.clone(), torch.empty_like(tensor)
    while d < K:
        if v % (2 * d) == d:
            dist.send(total, group=group, group_dst=(rank - d) % K)
            break
        if v + d < K:
            dist.recv(incoming, group=group, group_src=(rank + d) % K)
            total = tensor + incoming
        d *= 2
    return total
