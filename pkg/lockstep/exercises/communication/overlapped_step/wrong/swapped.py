"""The learner mixed up the order of the results."""

import torch.distributed as dist

MISCONCEPTION = "swapped"
TELL = "The pair is (gradient, product), in this order."


def overlapped_step(gradient, x, weights, group=None):
    gradient = gradient.contiguous()
    work = dist.all_reduce(gradient, group=group, async_op=True)
    product = x @ weights
    work.wait()
    return product, gradient
