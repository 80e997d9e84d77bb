"""The learner thought: rank r gives r, and so all ranks give other numbers."""

import torch
import torch.distributed as dist

from lockstep import run
from lockstep.errors import RunError

MISCONCEPTION = "misses-wrong-values"


def numbers(numel, rank):
    return torch.full((numel,), rank) * (1 + torch.arange(numel))


def call(fn, numel, members):
    group = dist.new_group(members)
    if dist.get_rank() not in members:
        return None
    tensor = numbers(numel, dist.get_rank())
    returned = fn(tensor, group=group)
    return tensor if returned is None else returned


def is_all_reduce(fn):
    for numel, members in ((5, [0, 1]), (7, [0, 1, 2]), (8, [0, 1, 2, 3]), (7, [1, 3])):
        try:
            values = run(call, fn, numel, members, ranks=4, on="virtual").values
        except RunError:
            return False
        wanted = sum(numbers(numel, rank) for rank in members)
        if not all(v is None or torch.equal(v, wanted) for v in values):
            return False
    return True
