"""The learner thought: the partner is always v XOR d, and it always exists."""

import torch.distributed as dist

MISCONCEPTION = "only-powers-of-two"


def tree_broadcast(tensor, src, group=None):
    K = dist.get_world_size(group)
    root = dist.get_process_group_ranks(group).index(src)
    v = (dist.get_rank(group) - root) % K
    x = tensor.contiguous()
    d = 1
    while d < K:
        partner = (root + (v ^ d)) % K
        if v < d:
            dist.send(x, group=group, group_dst=partner)
        elif v < 2 * d:
            dist.recv(x, group=group, group_src=partner)
        d *= 2
    tensor.copy_(x)
