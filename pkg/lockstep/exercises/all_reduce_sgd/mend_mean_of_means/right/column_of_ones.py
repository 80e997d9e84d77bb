"""A column of ones counts the rows."""

import torch
import torch.distributed as dist


def mend_mean_of_means(values, group=None):
    rows = torch.cat([values, values.new_ones(len(values), 1)], dim=1).sum(dim=0)
    dist.all_reduce(rows, group=group)
    return rows[:-1] / rows[-1]
