"""The learner thought: async_op=True is the overlap."""

import torch.distributed as dist

MISCONCEPTION = "waits-at-once"


def overlapped_step(gradient, x, weights, group=None):
    gradient = gradient.contiguous()
    work = dist.all_reduce(gradient, group=group, async_op=True)
    work.wait()
    product = x @ weights
    return gradient, product
