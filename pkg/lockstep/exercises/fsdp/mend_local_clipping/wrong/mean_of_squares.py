"""The learner thought: gradients are averaged, so the squares are, too."""

import torch
import torch.distributed as dist

MISCONCEPTION = "mean-of-squares"
TELL = "You divide the sum of squares by the number of ranks. Shards are parts of one vector: all squares count."


def mend_local_clipping(gradients, max_norm, group=None):
    squares = sum((g**2).sum() for g in gradients)
    dist.all_reduce(squares, group=group)
    norm = torch.sqrt(squares / dist.get_world_size(group))
    scale = torch.clamp(max_norm / norm, max=1.0)
    return [g * scale for g in gradients]
