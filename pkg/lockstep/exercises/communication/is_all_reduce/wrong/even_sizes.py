"""The learner thought: a size is a size."""

import torch
import torch.distributed as dist

from lockstep import run
from lockstep.errors import RunError

MISCONCEPTION = "misses-some-sizes"
ALSO = ["misses-hangs"]


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
    try:
        for ranks, numel in ((2, 4), (3, 6), (4, 8)):
            values = run(call, fn, numel, ranks=ranks, on="virtual").values
            if not all(torch.equal(v, right(numel, range(ranks))) for v in values):
                return False
        values = run(call, fn, 6, (0, 2), ranks=4, on="virtual").values
        if not all(v is None or torch.equal(v, right(6, (0, 2))) for v in values):
            return False
    except RunError:
        return False
    return True
