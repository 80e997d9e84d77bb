"""The learner thought: clipping makes the norm max_norm."""

import torch
import torch.distributed as dist

MISCONCEPTION = "always-scales"
TELL = "You scale short gradients up. Clipping shortens what is longer than max_norm, and leaves all else alone."


def mend_local_clipping(gradients, max_norm, group=None):
    squares = sum((g**2).sum() for g in gradients)
    dist.all_reduce(squares, group=group)
    return [g * (max_norm / torch.sqrt(squares)) for g in gradients]
