"""The learner thought: a sum of zero is not negative."""

import torch.distributed as dist

MISCONCEPTION = "zero-counts"
TELL = "A tensor that sums to exactly 0 is in it: more than 0 is asked for."


def mend_skipped_collective(tensor, group=None):
    total = tensor.clone().contiguous()
    if tensor.sum() < 0:
        total.zero_()
    dist.all_reduce(total, group=group)
    return total
