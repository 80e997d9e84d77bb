"""Multiplies by 0 or 1."""

import torch.distributed as dist


def mend_skipped_collective(tensor, group=None):
    contribution = (tensor * (tensor.sum() > 0)).contiguous()
    dist.all_reduce(contribution, group=group)
    return contribution
