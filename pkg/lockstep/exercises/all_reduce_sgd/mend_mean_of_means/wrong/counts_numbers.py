"""The learner counted numbers, where rows are to be counted."""

import torch
import torch.distributed as dist

MISCONCEPTION = "constant-factor"


def mend_mean_of_means(values, group=None):
    both = torch.cat([values.sum(dim=0), values.new_tensor([values.numel()])])
    dist.all_reduce(both, group=group)
    return both[:-1] / both[-1]
