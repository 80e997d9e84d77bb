"""The learner thought: gradients are of float32."""

import torch
import torch.distributed as dist

MISCONCEPTION = "single-precision"


def overlapped_step(gradient, x, weights, group=None):
    total = gradient.float().clone()
    transfer = dist.all_reduce(total, group=group, async_op=True)
    product = x @ weights
    transfer.wait()
    return total.to(gradient.dtype), product
