"""The learner thought: what is not larger than max_norm stays as it is."""

import torch
import torch.distributed as dist

MISCONCEPTION = "lets-nan-pass"
TELL = "A NaN anywhere makes the norm NaN, and here all other numbers stay as they were. Then only the rank that has the NaN notices. Mind that `nan > max_norm` is False."


def mend_local_clipping(gradients, max_norm, group=None):
    squares = sum((g**2).sum() for g in gradients)
    dist.all_reduce(squares, group=group)
    norm = torch.sqrt(squares)
    return [g * (max_norm / norm) if norm > max_norm else g for g in gradients]
