"""The learner forgot to pass the group on."""

import torch.distributed as dist

MISCONCEPTION = "ignores-group"


def overlapped_step(gradient, x, weights, group=None):
    gradient = gradient.contiguous()
    work = dist.all_reduce(gradient, async_op=True)
    product = x @ weights
    work.wait()
    return gradient, product
