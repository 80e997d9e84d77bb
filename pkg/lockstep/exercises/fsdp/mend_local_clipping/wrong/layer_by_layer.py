"""The learner thought: each layer is clipped by its own norm."""

import torch
import torch.distributed as dist

MISCONCEPTION = "each-layer"
TELL = "You clip each layer by its own norm. There is one norm, of all layers together, and one factor."


def mend_local_clipping(gradients, max_norm, group=None):
    clipped = []
    for g in gradients:
        squares = (g**2).sum()
        dist.all_reduce(squares, group=group)
        clipped.append(g * torch.clamp(max_norm / squares.sqrt(), max=1.0))
    return clipped
