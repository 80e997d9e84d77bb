"""The learner took the tree of a heap: v sends to 2v + 1 and 2v + 2."""

import torch.distributed as dist

MISCONCEPTION = "binary-tree"
TELL = "A rank sends to two others at most, and then it is idle. In each round that is left it could serve one more: v sends to v + d in the rounds of distance d > v."


def tree_broadcast(tensor, src, group=None):
    K = dist.get_world_size(group)
    root = dist.get_process_group_ranks(group).index(src)
    v = (dist.get_rank(group) - root) % K
    x = tensor.contiguous()
    if v:
        dist.recv(x, group=group, group_src=(root + (v - 1) // 2) % K)
    for child in (2 * v + 1, 2 * v + 2):
        if child < K:
            dist.send(x, group=group, group_dst=(root + child) % K)
    tensor.copy_(x)
