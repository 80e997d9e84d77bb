"""The learner thought: divide where the sum is made."""

import torch.distributed as dist

MISCONCEPTION = "not-divided"
TELL = "This is the sum of all rows. Divide it by their number, over all ranks."


def mend_mean_of_means(values, group=None):
    total = values.sum(dim=0)
    dist.all_reduce(total, group=group)
    return total
