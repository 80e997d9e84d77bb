"""The learner cut the product in two, and starts the transfer in between."""

import torch
import torch.distributed as dist

MISCONCEPTION = "little-overlap"


def overlapped_step(gradient, x, weights, group=None):
    upper, lower = x.tensor_split(2)
    first = upper @ weights
    transfer = dist.all_reduce(gradient, group=group, async_op=True)
    second = lower @ weights
    transfer.wait()
    return gradient, torch.cat([first, second])
