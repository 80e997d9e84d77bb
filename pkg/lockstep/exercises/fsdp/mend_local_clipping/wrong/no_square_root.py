"""The learner thought: the sum of squares is the norm."""

import torch
import torch.distributed as dist

MISCONCEPTION = "no-root"
TELL = "You compare max_norm with the sum of squares. The norm is its root."


def mend_local_clipping(gradients, max_norm, group=None):
    squares = sum((g**2).sum() for g in gradients)
    dist.all_reduce(squares, group=group)
    scale = torch.clamp(max_norm / squares, max=1.0)
    return [g * scale for g in gradients]
