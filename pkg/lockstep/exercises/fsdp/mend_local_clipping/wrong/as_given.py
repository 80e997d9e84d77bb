"""The learner thought: nothing is wrong with it."""

import torch

MISCONCEPTION = "local-norm"
TELL = "This is the given program: each rank clips by the norm of its own shards. Ranks then scale by different factors, and the gradient's direction changes."


def mend_local_clipping(gradients, max_norm, group=None):
    norm = torch.sqrt(sum((g**2).sum() for g in gradients))
    scale = torch.clamp(max_norm / norm, max=1.0)
    return [g * scale for g in gradients]
