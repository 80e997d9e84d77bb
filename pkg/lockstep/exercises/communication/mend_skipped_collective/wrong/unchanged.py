"""The learner thought: a rank that has nothing to give need not come."""

import torch.distributed as dist

MISCONCEPTION = "crashed:Deadlock"


def mend_skipped_collective(tensor, group=None):
    total = tensor.clone().contiguous()
    if tensor.sum() > 0:
        dist.all_reduce(total, group=group)
    return total
