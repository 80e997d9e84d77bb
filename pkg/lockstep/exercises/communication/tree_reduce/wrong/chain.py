"""The learner thought: add on the way from neighbour to neighbour."""

import torch
import torch.distributed as dist

MISCONCEPTION = "chain"
TELL = "Each rank waits for the one before it, so that it takes K-1 rounds. In a tree, pairs add at the same time: in each round half of those that are left send their sum, and are done."


def tree_reduce(tensor, dst, group=None):
    K = dist.get_world_size(group)
    root = dist.get_process_group_ranks(group).index(dst)
    v = (dist.get_rank(group) - root) % K
    x = tensor.contiguous()
    incoming = torch.empty_like(x)
    if v < K - 1:
        dist.recv(incoming, group=group, group_src=(root + v + 1) % K)
        x += incoming
    if v > 0:
        dist.send(x, group=group, group_dst=(root + v - 1) % K)
    tensor.copy_(x)
