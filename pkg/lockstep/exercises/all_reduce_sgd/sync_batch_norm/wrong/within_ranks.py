"""The learner thought: the variance of all rows is the mean of the ranks' variances, weighted by their rows."""

import torch
import torch.distributed as dist

MISCONCEPTION = "within-ranks"
TELL = "Your variance is that of each rank's rows from the rank's own mean. The ranks' means differ, too: take all distances from the mean of all rows."


def sync_batch_norm(x, eps, group=None):
    C = x.shape[1]
    own = x.sum(dim=0) / max(1, len(x))
    sums = torch.cat([x.sum(dim=0), ((x - own) ** 2).sum(dim=0), x.new_tensor([len(x)])])
    dist.all_reduce(sums, group=group)
    return (x - sums[:C] / sums[-1]) / (sums[C:-1] / sums[-1] + eps).sqrt()
