"""The learner thought: reducing gradients means averaging them."""

import torch
import torch.distributed as dist

MISCONCEPTION = "averages"
TELL = "This is the average; the exercise asks for the sum."


def tree_reduce(tensor, dst, group=None):
    K = dist.get_world_size(group)
    root = dist.get_process_group_ranks(group).index(dst)
    v = (dist.get_rank(group) - root) % K
    x = tensor.contiguous()
    incoming = torch.empty_like(x)
    for i in reversed(range((K - 1).bit_length())):
        d = 2**i
        if d <= v < 2 * d:
            dist.send(x, group=group, group_dst=(root + v - d) % K)
        elif v < d and v + d < K:
            dist.recv(incoming, group=group, group_src=(root + v + d) % K)
            x += incoming
    if v == 0:
        x = (x / K).to(x.dtype)
    tensor.copy_(x)
