"""The learner thought: only the result counts, so let rank 0 add."""

import torch
import torch.distributed as dist

MISCONCEPTION = "gather-to-one"
TELL = "One rank collects all tensors and hands out the sum. Here there is no such rank: each exchanges halves with rank ^ d."


def halving_doubling_all_reduce(tensor, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    x = tensor.contiguous().clone()
    if r == 0:
        incoming = torch.empty_like(x)
        for other in range(1, K):
            dist.recv(incoming, group=group, group_src=other)
            x += incoming
        for other in range(1, K):
            dist.send(x, group=group, group_dst=other)
    else:
        dist.send(x, group=group, group_dst=0)
        dist.recv(x, group=group, group_src=0)
    return x
