"""The learner thought: the backend overlaps by itself."""

import torch.distributed as dist

MISCONCEPTION = "waits-at-once"


def overlapped_step(gradient, x, weights, group=None):
    gradient = gradient.contiguous()
    dist.all_reduce(gradient, group=group)
    return gradient, x @ weights
