"""The learner thought: what I receive is there for the caller, too."""

import torch.distributed as dist

MISCONCEPTION = "returns-nothing"
TELL = "The tensor travels along the tree into a copy, which nobody sees: return it, or write it into the argument."


def tree_broadcast(tensor, src, group=None):
    K = dist.get_world_size(group)
    root = dist.get_process_group_ranks(group).index(src)
    v = (dist.get_rank(group) - root) % K
    x = tensor.clone().contiguous()
    d = 1
    while d < K:
        if v < d and v + d < K:
            dist.send(x, group=group, group_dst=(root + v + d) % K)
        elif d <= v < 2 * d:
            dist.recv(x, group=group, group_src=(root + v - d) % K)
        d *= 2
