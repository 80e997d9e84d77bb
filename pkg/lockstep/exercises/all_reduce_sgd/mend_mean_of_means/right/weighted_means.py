"""The mean of each rank, as often as it has rows; none from a rank without any."""

import torch
import torch.distributed as dist


def mend_mean_of_means(values, group=None):
    n, C = values.shape
    sums = values.new_zeros(C + 1)
    if n > 0:
        sums[:C] = values.mean(dim=0) * n
    sums[C] = n
    work = dist.all_reduce(sums, group=group, async_op=True)
    work.wait()
    return sums[:C] / sums[C].item()
