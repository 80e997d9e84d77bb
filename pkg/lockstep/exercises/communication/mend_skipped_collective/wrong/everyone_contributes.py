"""The learner thought: the condition is the bug."""

import torch.distributed as dist

MISCONCEPTION = "sums-everyone"


def mend_skipped_collective(tensor, group=None):
    total = tensor.clone().contiguous()
    dist.all_reduce(total, group=group)
    return total
