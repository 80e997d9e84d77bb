"""The learner thought: the sum is divided by the number of rows."""

import torch.distributed as dist

MISCONCEPTION = "own-rows"
TELL = "You divide by this rank's number of rows. The sum is that of all ranks' rows, and so must the number be."


def mend_mean_of_means(values, group=None):
    total = values.sum(dim=0)
    dist.all_reduce(total, group=group)
    return total / len(values)
