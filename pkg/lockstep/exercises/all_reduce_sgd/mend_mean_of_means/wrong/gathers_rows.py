"""The learner thought: with all rows together, mean() is right."""

import torch
import torch.distributed as dist

MISCONCEPTION = "gathers-rows"
TELL = "All rows of all ranks travel. Their sums and numbers are enough: C + 1 numbers."


def mend_mean_of_means(values, group=None):
    rows = values.new_zeros(16, values.shape[1] + 1)
    rows[: len(values), :-1], rows[: len(values), -1] = values, 1
    everyone = [torch.empty_like(rows) for _ in range(dist.get_world_size(group))]
    dist.all_gather(everyone, rows, group=group)
    together = torch.cat(everyone)
    return together[together[:, -1] == 1, :-1].mean(dim=0)
