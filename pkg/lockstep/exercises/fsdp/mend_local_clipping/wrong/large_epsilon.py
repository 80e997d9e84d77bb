"""The learner thought: any small epsilon will do."""

import torch
import torch.distributed as dist

MISCONCEPTION = "wrong-values"


def mend_local_clipping(gradients, max_norm, group=None):
    square = sum((g**2).sum() for g in gradients)
    dist.all_reduce(square, group=group)
    norm = torch.sqrt(square)
    scale = torch.clamp(max_norm / (norm + 1e-4), max=1.0)
    scale = torch.where(norm == 0, torch.ones_like(scale), scale)
    return [g * scale for g in gradients]
