"""The learner thought: dst counts within the group."""

import torch
import torch.distributed as dist

MISCONCEPTION = "ignores-group"


def tree_reduce(tensor, dst, group=None):
    K = dist.get_world_size(group)
    v = (dist.get_rank(group) - dst) % K
    x = tensor.contiguous()
    incoming = torch.empty_like(x)
    for i in reversed(range((K - 1).bit_length())):
        d = 2**i
        if d <= v < 2 * d:
            dist.send(x, group=group, group_dst=(dst + v - d) % K)
        elif v < d and v + d < K:
            dist.recv(incoming, group=group, group_src=(dst + v + d) % K)
            x += incoming
    tensor.copy_(x)
