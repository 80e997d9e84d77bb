"""The learner thought: the root wants the sum, so the root collects it."""

import torch
import torch.distributed as dist

MISCONCEPTION = "star"
TELL = "The root does all the work. Let pairs of ranks add at the same time, and send their sums on."


def tree_reduce(tensor, dst, group=None):
    K = dist.get_world_size(group)
    root = dist.get_process_group_ranks(group).index(dst)
    v = (dist.get_rank(group) - root) % K
    x = tensor.contiguous()
    incoming = torch.empty_like(x)
    if v == 0:
        for other in range(1, K):
            dist.recv(incoming, group=group, group_src=(root + other) % K)
            x += incoming
    else:
        dist.send(x, group=group, group_dst=root)
    tensor.copy_(x)
