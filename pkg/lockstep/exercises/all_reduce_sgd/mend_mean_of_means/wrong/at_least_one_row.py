"""The learner thought: no rank should count 0 rows, or something is divided by 0."""

import torch
import torch.distributed as dist

MISCONCEPTION = "constant-factor"


def mend_mean_of_means(values, group=None):
    both = torch.cat([values.sum(dim=0), values.new_tensor([max(len(values), 1)])])
    dist.all_reduce(both, group=group)
    return both[:-1] / both[-1]
