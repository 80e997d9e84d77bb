"""The learner thought: all ranks have as many rows as I."""

import torch
import torch.distributed as dist

MISCONCEPTION = "mean-of-means"
TELL = "You take the mean of the ranks' means, where rows of a rank with few rows count more. Let sums and numbers of rows travel, and divide by the number of all rows."


def sync_batch_norm(x, eps, group=None):
    sums = torch.cat([x.sum(dim=0), (x * x).sum(dim=0)]) / max(1, len(x))
    dist.all_reduce(sums, group=group)
    mean, squares = (sums / dist.get_world_size(group)).chunk(2)
    return (x - mean) / (squares - mean * mean + eps).sqrt()
