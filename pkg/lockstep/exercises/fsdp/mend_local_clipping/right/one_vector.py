"""The norm of one long vector, squared."""

import torch
import torch.distributed as dist


def mend_local_clipping(gradients, max_norm, group=None):
    squares = torch.cat(gradients).double().square().sum()
    dist.all_reduce(squares, group=group)
    scale = min(1.0, max_norm / squares.sqrt().item()) if squares != 0 else 1.0
    if squares.isnan():
        scale = float("nan")
    return [g * scale for g in gradients]
