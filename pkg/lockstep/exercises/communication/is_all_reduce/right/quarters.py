"""Random quarters, several sizes, and the runs that fail."""

import torch
import torch.distributed as dist

from lockstep import run
from lockstep.errors import RunError


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


def quarters(numel, rank):
    drawn = torch.Generator().manual_seed(rank + 7)
    return torch.randint(-99, 99, (numel,), generator=drawn) / 4


def is_all_reduce(fn):
    for ranks in (2, 3, 5):
        for members in (None, (0, ranks - 1)):
            for numel in (1, 7):
                group = members if members and ranks > 2 else None
                try:
                    values = run(call, fn, numel, group, quarters, ranks=ranks, on="dgx-a100", timeout=5).values
                except RunError:
                    return False
                wanted = right(numel, group or range(ranks), quarters)
                if not all(v is None or torch.equal(v, wanted) for v in values):
                    return False
    return True
