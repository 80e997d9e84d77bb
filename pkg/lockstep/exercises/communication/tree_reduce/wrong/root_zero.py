"""The learner thought: the root is rank 0."""

import torch
import torch.distributed as dist

MISCONCEPTION = "only-root-zero"


def tree_reduce(tensor, dst, group=None):
    K, v = dist.get_world_size(group), dist.get_rank(group)
    x = tensor.contiguous()
    incoming = torch.empty_like(x)
    for i in reversed(range((K - 1).bit_length())):
        d = 2**i
        if d <= v < 2 * d:
            dist.send(x, group=group, group_dst=v - d)
        elif v < d and v + d < K:
            dist.recv(incoming, group=group, group_src=v + d)
            x += incoming
    tensor.copy_(x)
