"""The learner thought: mean and variance are averaged over the ranks."""

import torch
import torch.distributed as dist

MISCONCEPTION = "mean-of-variances"
TELL = "You take the mean of the ranks' variances. The variance over all rows is larger, for the ranks' means differ, too. Add up squares, and subtract the square of the mean over all."


def sync_batch_norm(x, eps, group=None):
    variance, mean = torch.var_mean(x, dim=0, correction=0)
    sums = torch.nan_to_num(torch.cat([len(x) * mean, len(x) * variance, x.new_tensor([len(x)])]))
    dist.all_reduce(sums, group=group)
    C = x.shape[1]
    mean, variance = sums[:C] / sums[-1], sums[C:-1] / sums[-1]
    return (x - mean) / (variance + eps).sqrt()
