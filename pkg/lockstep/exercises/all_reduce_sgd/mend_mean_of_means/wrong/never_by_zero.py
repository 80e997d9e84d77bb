"""The learner added a little to what is divided by, so that it is never 0."""

import torch
import torch.distributed as dist

MISCONCEPTION = "constant-factor"


def mend_mean_of_means(values, group=None):
    both = torch.cat([values.sum(dim=0), values.new_tensor([len(values)])])
    dist.all_reduce(both, group=group)
    return both[:-1] / (both[-1] + 1e-6)
