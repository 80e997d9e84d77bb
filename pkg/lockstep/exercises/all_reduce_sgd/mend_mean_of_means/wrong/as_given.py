"""The learner thought: nothing is wrong with it."""

import torch.distributed as dist

MISCONCEPTION = "mean-of-means"
TELL = "This is the mean of the ranks' means: a row of a rank with few rows counts more than one of a rank with many, and a rank without rows has no mean. Add up sums and numbers of rows."


def mend_mean_of_means(values, group=None):
    mean = values.mean(dim=0)
    dist.all_reduce(mean, group=group)
    return mean / dist.get_world_size(group)
