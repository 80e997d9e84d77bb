"""The learner thought: one all-reduce for each layer's squares, and then their sum."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-collectives"
TELL = "Each layer's squares travel by themselves. Add them up first: one number is enough."


def mend_local_clipping(gradients, max_norm, group=None):
    total = 0.0
    for g in gradients:
        squares = (g**2).sum()
        dist.all_reduce(squares, group=group)
        total = total + squares
    scale = torch.clamp(max_norm / torch.sqrt(total), max=1.0)
    return [g * scale for g in gradients]
