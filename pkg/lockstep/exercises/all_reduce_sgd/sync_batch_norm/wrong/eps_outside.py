"""The learner thought: eps keeps the divisor from being 0."""

import torch
import torch.distributed as dist

MISCONCEPTION = "eps-outside-the-root"
TELL = "You add eps to the root. It belongs under the root: sqrt(variance + eps)."


def sync_batch_norm(x, eps, group=None):
    sums = torch.cat([x.sum(dim=0), (x * x).sum(dim=0), x.new_tensor([len(x)])])
    dist.all_reduce(sums, group=group)
    C, rows = x.shape[1], sums[-1]
    mean = sums[:C] / rows
    return (x - mean) / ((sums[C:-1] / rows - mean * mean).sqrt() + eps)
