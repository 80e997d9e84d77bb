"""The learner forgot to pass the group on."""

import torch
import torch.distributed as dist

MISCONCEPTION = "ignores-group"


def mend_skipped_collective(tensor, group=None):
    total = tensor.clone().contiguous() if tensor.sum() > 0 else torch.zeros_like(tensor).contiguous()
    dist.all_reduce(total)
    return total
