"""The learner forgot to pass the group on."""

import torch
import torch.distributed as dist

MISCONCEPTION = "ignores-group"


def mend_local_clipping(gradients, max_norm, group=None):
    squares = sum((g**2).sum() for g in gradients)
    dist.all_reduce(squares)
    scale = torch.clamp(max_norm / torch.sqrt(squares), max=1.0)
    return [g * scale for g in gradients]
