"""The learner thought: the variance is the mean of the squares."""

import torch
import torch.distributed as dist

MISCONCEPTION = "mean-of-squares"
TELL = "You divide by the root of the mean of squares. The variance is that less the square of the mean."


def sync_batch_norm(x, eps, group=None):
    sums = torch.cat([x.sum(dim=0), (x * x).sum(dim=0), x.new_tensor([len(x)])])
    dist.all_reduce(sums, group=group)
    C, rows = x.shape[1], sums[-1]
    return (x - sums[:C] / rows) / (sums[C:-1] / rows + eps).sqrt()
