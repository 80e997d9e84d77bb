"""The learner thought: src counts within the group."""

import torch.distributed as dist

MISCONCEPTION = "ignores-group"


def tree_broadcast(tensor, src, group=None):
    K = dist.get_world_size(group)
    v = (dist.get_rank(group) - src) % K
    x = tensor.contiguous()
    d = 1
    while d < K:
        if v < d and v + d < K:
            dist.send(x, group=group, group_dst=(src + v + d) % K)
        elif d <= v < 2 * d:
            dist.recv(x, group=group, group_src=(src + v - d) % K)
        d *= 2
    tensor.copy_(x)
