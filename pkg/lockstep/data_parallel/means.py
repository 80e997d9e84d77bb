"""The mean over all ranks' rows, where ranks have different numbers of them.

                rank 0        rank 1         sums       divided
    rows        1, 3, 5       9              18 of 4    4.5       the mean
    means       3             9              12 of 2    6         the mean of means: rank 1's row counts three times

The mean of the ranks' means is the mean over all rows only where all ranks have as many rows. A rank without any has no
mean at all: 0/0, which is not a number, and no sum after that is one.
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor


def mean_of_means(values: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """Not what it should be: C numbers for ``values`` of n rows and C columns, right where n is the same everywhere."""
    mean = values.mean(dim=0)
    dist.all_reduce(mean, group=group)
    return mean / dist.get_world_size(group)


def mend_mean_of_means(values: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """The mean over all rows of all ranks, C numbers on every rank. Sums can be added, and so can numbers of rows: one
    all-reduce of C + 1 numbers, and one division."""
    sums = torch.cat([values.sum(dim=0), values.new_tensor([len(values)])])
    dist.all_reduce(sums, group=group)
    return sums[:-1] / sums[-1]
