"""The learner waits in the middle of the product, so that the gradient is there early."""

import torch
import torch.distributed as dist

MISCONCEPTION = "little-overlap"


def overlapped_step(gradient, x, weights, group=None):
    transfer = dist.all_reduce(gradient, group=group, async_op=True)
    first = x[:64] @ weights
    transfer.wait()
    return gradient, torch.cat([first, x[64:] @ weights])
