"""The learner thought: torch has this already."""

import torch.distributed as dist

MISCONCEPTION = "library-call"


def halving_doubling_all_reduce(tensor, group=None):
    x = tensor.contiguous().clone()
    dist.all_reduce(x, group=group)
    return x
