"""The learner thought: the all-reduce adds up, so nobody sees a single value."""

import torch.distributed as dist

MISCONCEPTION = "shows-value"


def masked_sum(value, secrets, mask, group=None):
    total = value.clone()
    dist.all_reduce(total, group=group)
    return total % 2**32
