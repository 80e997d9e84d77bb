"""The mean over all ranks' rows, where the ranks have unequal shares.

                rank 0        rank 1         sums       divided
    rows        1, 3, 5       9              18 of 4    4.5       the mean
    means       3             9              12 of 2    6         the mean of means: rank 1's row counts three times

The mean of the ranks' means is the mean over all rows only if all ranks have the same number of rows. On a rank without
rows it is 0/0, a NaN, which makes every later sum a NaN.
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor


def mean_of_means(values: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """Wrong unless n is the same on all ranks: (C,) for ``values`` (n, C)."""
    mean = values.mean(dim=0)
    dist.all_reduce(mean, group=group)
    return mean / dist.get_world_size(group)


def mend_mean_of_means(values: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """The mean over all rows of all ranks, (C,), on every rank: one all-reduce of C + 1 numbers, the sums and the
    number of rows, and one division."""
    sums = torch.cat([values.sum(dim=0), values.new_tensor([len(values)])])
    dist.all_reduce(sums, group=group)
    return sums[:-1] / sums[-1]
