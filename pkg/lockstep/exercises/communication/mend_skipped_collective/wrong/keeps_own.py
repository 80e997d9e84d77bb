"""The learner thought: who gives nothing gets nothing."""

import torch
import torch.distributed as dist

MISCONCEPTION = "keeps-own"
TELL = "Ranks that have nothing to give keep their own tensor. They need the total, too."


def mend_skipped_collective(tensor, group=None):
    if tensor.sum() > 0:
        total = tensor.clone().contiguous()
        dist.all_reduce(total, group=group)
        return total
    zeros = torch.zeros_like(tensor)
    dist.all_reduce(zeros, group=group)
    return tensor
