"""The learner thought: what is computed is what must be shared."""

import torch.distributed as dist

MISCONCEPTION = "reduces-the-product"
TELL = "The products have been summed over the ranks: each rank returns its own, and only the gradients are summed."


def overlapped_step(gradient, x, weights, group=None):
    gradient = gradient.contiguous()
    work = dist.all_reduce(gradient, group=group, async_op=True)
    product = x @ weights
    work.wait()
    dist.all_reduce(product, group=group)
    return gradient, product
