"""The learner thought: only the ranks without rows are the problem."""

import torch.distributed as dist

MISCONCEPTION = "empty-as-zero"
TELL = "This is the mean of the ranks' means, where a rank without rows counts as 0. Each row should count alike: add up sums and numbers of rows."


def mend_mean_of_means(values, group=None):
    mean = values.mean(dim=0) if len(values) else values.new_zeros(values.shape[1])
    dist.all_reduce(mean, group=group)
    return mean / dist.get_world_size(group)
