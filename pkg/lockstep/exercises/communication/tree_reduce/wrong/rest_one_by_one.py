"""The learner thought: a tree needs a power of two, and the root collects the rest first."""

import torch
import torch.distributed as dist

MISCONCEPTION = "rest-one-by-one"
TELL = "The root collects from the ranks above the largest power of two one after another: let each of them send to another rank."


def tree_reduce(tensor, dst, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    root = dist.get_group_rank(group or dist.group.WORLD, dst)
    v, d = (rank - root) % K, 1
    total = tensor.clone(memory_format=torch.contiguous_format)
    incoming = torch.empty_like(total)
    whole = 1 << (K.bit_length() - 1)
    if v >= whole:
        dist.send(total, group=group, group_dst=root)
        return total
    if v == 0:
        for other in range(whole, K):
            dist.recv(incoming, group=group, group_src=(rank + other) % K)
            total += incoming
    while d < whole:
        if v % (2 * d) == d:
            dist.send(total, group=group, group_dst=(rank - d) % K)
            break
        dist.recv(incoming, group=group, group_src=(rank + d) % K)
        total += incoming
        d *= 2
    return total
