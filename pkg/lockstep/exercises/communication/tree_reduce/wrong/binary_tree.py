"""The learner took the tree of a heap: v adds what comes from 2v + 1 and 2v + 2."""

import torch
import torch.distributed as dist

MISCONCEPTION = "binary-tree"
TELL = "A rank has two children at most, one to receive from after the other. In each round every rank that is left can meet another: v and v + d, for d = 1, 2, 4 ..."


def tree_reduce(tensor, dst, group=None):
    K = dist.get_world_size(group)
    root = dist.get_process_group_ranks(group).index(dst)
    v = (dist.get_rank(group) - root) % K
    x = tensor.contiguous()
    incoming = torch.empty_like(x)
    for child in (2 * v + 1, 2 * v + 2):
        if child < K:
            dist.recv(incoming, group=group, group_src=(root + child) % K)
            x += incoming
    if v:
        dist.send(x, group=group, group_dst=(root + (v - 1) // 2) % K)
    tensor.copy_(x)
