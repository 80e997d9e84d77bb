"""The learner thought: the sums first, then the numbers of rows."""

import torch.distributed as dist

MISCONCEPTION = "two-all-reduces"
TELL = "Two all-reduces where one is enough: put the number of rows beside the sums, into one tensor."


def mend_mean_of_means(values, group=None):
    total, rows = values.sum(dim=0), values.new_tensor([len(values)])
    dist.all_reduce(total, group=group)
    dist.all_reduce(rows, group=group)
    return total / rows
