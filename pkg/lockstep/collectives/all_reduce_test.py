"""is_all_reduce: a test of an all-reduce that somebody else has written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from lockstep.errors import RunError
from lockstep.worlds import run

TRIALS = ((1, 3), (2, 5), (3, 7), (4, 8), (4, 2))  # ranks, elements


def is_all_reduce(fn: Callable[..., Any]) -> bool:
    """Whether ``fn(tensor, group=None)`` leaves on every rank, in place or returned, the sum over the group.

    It is tried on several numbers of ranks and elements, on whole numbers that are different everywhere (so that any
    order of summation is exact), and on a group of some of the ranks. A run that fails or hangs is no all-reduce.
    """
    try:
        return all(_is_right(fn, ranks, numel, members) for ranks, numel in TRIALS for members in (None, (1, 3))
                   if members is None or ranks == 4)  # fmt: skip
    except RunError:
        return False


def _is_right(fn: Callable[..., Any], ranks: int, numel: int, members: tuple[int, ...] | None) -> bool:
    own = [torch.arange(numel) * 100**rank + rank for rank in range(ranks)]
    wanted = torch.stack([own[rank] for rank in members or range(ranks)]).sum(0)
    held = run(_call, fn, own, members, ranks=ranks, on="virtual", timeout=5).values
    return all(value is None or (isinstance(value, torch.Tensor) and torch.equal(value, wanted)) for value in held)


def _call(fn: Callable[..., Any], own: list[torch.Tensor], members: tuple[int, ...] | None) -> Any:
    """On each rank: what it holds afterwards, or None where it is not in the group."""
    group = dist.new_group(list(members)) if members else None
    if members and dist.get_rank() not in members:
        return None
    tensor = own[dist.get_rank()].clone()
    returned = fn(tensor, group=group)
    return tensor if returned is None else returned
