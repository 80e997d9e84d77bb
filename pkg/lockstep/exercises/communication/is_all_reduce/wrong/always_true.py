"""The learner thought: no news is good news."""

import torch
import torch.distributed as dist

from lockstep import run
from lockstep.errors import RunError

MISCONCEPTION = "misses-wrong-values"
ALSO = ["misses-some-sizes", "misses-hangs"]


def call(fn, numel, members=None, make=None):
    rank = dist.get_rank()
    group = dist.new_group(list(members)) if members else None
    if members and rank not in members:
        return None
    tensor = (torch.arange(numel) * 10**rank + rank) if make is None else make(numel, rank)
    returned = fn(tensor, group=group)
    return tensor if returned is None else returned


def right(numel, members, make=None):
    return sum((torch.arange(numel) * 10**r + r) if make is None else make(numel, r) for r in members)


def is_all_reduce(fn):
    return True
