"""The learner thought: the mean must be known before the distances from it."""

import torch
import torch.distributed as dist

MISCONCEPTION = "two-rounds"
TELL = "First the mean, then the distances from it: two all-reduces. The sums of x and of x² can travel together, for the variance is the mean of squares less the square of the mean."


def sync_batch_norm(x, eps, group=None):
    sums = torch.cat([x.sum(dim=0), x.new_tensor([len(x)])])
    dist.all_reduce(sums, group=group)
    mean = sums[:-1] / sums[-1]
    squares = ((x - mean) ** 2).sum(dim=0)
    dist.all_reduce(squares, group=group)
    return (x - mean) / (squares / sums[-1] + eps).sqrt()
