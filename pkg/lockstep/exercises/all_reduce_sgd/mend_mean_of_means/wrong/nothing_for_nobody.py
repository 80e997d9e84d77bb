"""The learner thought: a rank without rows has no mean."""

import torch
import torch.distributed as dist

MISCONCEPTION = "zeros-without-rows"
TELL = "A rank without rows returns zeros. It returns the mean over all rows, as every rank does."


def mend_mean_of_means(values, group=None):
    both = torch.cat([values.sum(dim=0), values.new_tensor([len(values)])])
    dist.all_reduce(both, group=group)
    return both[:-1] / both[-1] if len(values) else torch.zeros_like(both[:-1])
