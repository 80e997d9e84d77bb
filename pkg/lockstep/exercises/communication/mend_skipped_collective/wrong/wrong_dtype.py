"""The learner thought: zeros are zeros."""

import torch
import torch.distributed as dist

MISCONCEPTION = "crashed:Mismatch"


def mend_skipped_collective(tensor, group=None):
    total = tensor.clone().contiguous() if tensor.sum() > 0 else torch.zeros(tensor.shape)
    dist.all_reduce(total, group=group)
    return total
