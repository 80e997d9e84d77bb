"""The learner thought: the others have as many rows as I."""

import torch.distributed as dist

MISCONCEPTION = "own-rows-times-K"
TELL = (
    "You count K times this rank's rows. The others have other numbers of them: let the numbers travel with the sums."
)


def mend_mean_of_means(values, group=None):
    total = values.sum(dim=0)
    dist.all_reduce(total, group=group)
    return total / (len(values) * dist.get_world_size(group))
