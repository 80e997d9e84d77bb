"""The learner thought: a variance is divided by the number of rows less one."""

import torch
import torch.distributed as dist

MISCONCEPTION = "unbiased-variance"
TELL = "You divide the squared distances by the number of rows less one. Batch normalisation takes the biased variance: divide by the number of rows."


def sync_batch_norm(x, eps, group=None):
    sums = torch.cat([x.sum(dim=0), (x * x).sum(dim=0), x.new_tensor([len(x)])])
    dist.all_reduce(sums, group=group)
    C, rows = x.shape[1], sums[-1]
    mean = sums[:C] / rows
    variance = (sums[C:-1] - rows * mean * mean) / (rows - 1)
    return (x - mean) / (variance + eps).sqrt()
