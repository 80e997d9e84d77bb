"""The learner thought: torch has this already."""

import torch.distributed as dist

MISCONCEPTION = "library-call"


def tree_reduce(tensor, dst, group=None):
    x = tensor.contiguous()
    dist.reduce(x, dst, group=group)
    tensor.copy_(x)
