"""The learner thought: what is computed is what must be shared."""

import torch.distributed as dist

MISCONCEPTION = "reduces-the-product"


def overlapped_step(gradient, x, weights, group=None):
    gradient = gradient.contiguous()
    work = dist.all_reduce(gradient, group=group, async_op=True)
    product = x @ weights
    work.wait()
    dist.all_reduce(product, group=group)
    return gradient, product
