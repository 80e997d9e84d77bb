"""The learner thought: who has nothing to give need not call."""

import torch
import torch.distributed as dist

MISCONCEPTION = "crashed:Deadlock"


def mend_mean_of_means(values, group=None):
    if len(values) == 0:
        return values.new_zeros(values.shape[1])
    sums = torch.cat([values.sum(dim=0), values.new_tensor([len(values)])])
    dist.all_reduce(sums, group=group)
    return sums[:-1] / sums[-1]
