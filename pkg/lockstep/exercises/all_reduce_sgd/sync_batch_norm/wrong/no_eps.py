"""The learner thought: eps is for rounding and can be left out."""

import torch
import torch.distributed as dist

MISCONCEPTION = "no-eps"
TELL = "This is what comes out without eps: it is added to the variance, under the root."


def sync_batch_norm(x, eps, group=None):
    sums = torch.cat([x.sum(dim=0), (x * x).sum(dim=0), x.new_tensor([len(x)])])
    dist.all_reduce(sums, group=group)
    C, rows = x.shape[1], sums[-1]
    mean = sums[:C] / rows
    return (x - mean) / (sums[C:-1] / rows - mean * mean).sqrt()
