"""The learner thought: one group is like another: the first two ranks will do."""

import torch
import torch.distributed as dist

from lockstep import run
from lockstep.errors import RunError

MISCONCEPTION = "misses-some-sizes"


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
        for ranks, numel, members in ((2, 5, None), (3, 7, None), (4, 8, None), (4, 8, (0, 1))):
            values = run(call, fn, numel, members, ranks=ranks, on="virtual").values
            wanted = right(numel, members or range(ranks))
            if not all(v is None or torch.equal(v, wanted) for v in values):
                return False
    except RunError:
        return False
    return True
