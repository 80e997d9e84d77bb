"""The learner thought: a tree needs a power of two, and the root serves the rest."""

import torch
import torch.distributed as dist

MISCONCEPTION = "rest-one-by-one"
TELL = "The root serves the ranks above the largest power of two one after another: let each of those that have the tensor serve one of them."


def tree_broadcast(tensor, src, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    root = dist.get_group_rank(group or dist.group.WORLD, src)
    v, d = (rank - root) % K, 1
    held = tensor.clone(memory_format=torch.contiguous_format)
    whole = 1 << (K.bit_length() - 1)
    while d < whole:
        if v < d:
            dist.send(held, group=group, group_dst=(rank + d) % K)
        elif d <= v < 2 * d:
            dist.recv(held, group=group, group_src=(rank - d) % K)
        d *= 2
    if v == 0:
        for other in range(whole, K):
            dist.send(held, group=group, group_dst=(rank + other) % K)
    elif v >= whole:
        dist.recv(held, group=group, group_src=root)
    return held
