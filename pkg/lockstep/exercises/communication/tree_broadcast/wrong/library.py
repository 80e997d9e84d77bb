"""The learner thought: torch has this already."""

import torch.distributed as dist

MISCONCEPTION = "library-call"


def tree_broadcast(tensor, src, group=None):
    x = tensor.contiguous()
    dist.broadcast(x, src, group=group)
    tensor.copy_(x)
