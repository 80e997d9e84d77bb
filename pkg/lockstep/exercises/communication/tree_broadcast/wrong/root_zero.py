"""The learner thought: the root is rank 0."""

import torch.distributed as dist

MISCONCEPTION = "only-root-zero"


def tree_broadcast(tensor, src, group=None):
    K, v = dist.get_world_size(group), dist.get_rank(group)
    x = tensor.contiguous()
    d = 1
    while d < K:
        if v < d and v + d < K:
            dist.send(x, group=group, group_dst=v + d)
        elif d <= v < 2 * d:
            dist.recv(x, group=group, group_src=v - d)
        d *= 2
    tensor.copy_(x)
