"""The learner thought: clip_grad_norm_ works in place."""

import torch
import torch.distributed as dist

MISCONCEPTION = "changes-arguments"


def mend_local_clipping(gradients, max_norm, group=None):
    squares = sum((g**2).sum() for g in gradients)
    dist.all_reduce(squares, group=group)
    scale = torch.clamp(max_norm / torch.sqrt(squares), max=1.0)
    return [g.mul_(scale) for g in gradients]
