"""is_all_reduce: a test of an all-reduce implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from lockstep.errors import RunError
from lockstep.worlds import run

WORLDS = (1, 2, 3, 4)  # ranks
SIZES = (8, 7, 2)  # elements
SOME = (1, 3)  # of four ranks


def is_all_reduce(fn: Callable[..., Any]) -> bool:
    """Whether ``fn(tensor, group=None)`` leaves on every rank, in place or returned, the sum over the group.

    It is tried on several numbers of ranks and elements, with integers that differ on every rank (so that any order of
    summation is exact), and on a group of some of the ranks. A function that fails or hangs is no all-reduce.
    """
    try:
        return all(all(run(_is_right, fn, ranks=ranks, on="virtual", timeout=5).values) for ranks in WORLDS)
    except RunError:
        return False


def _is_right(fn: Callable[..., Any]) -> bool:
    """Whether this rank holds each sum that it should hold."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    everyone = tuple(range(ranks))
    some = dist.new_group(list(SOME)) if ranks > SOME[-1] else None
    trials = [(None, everyone, numel) for numel in SIZES] + [(some, SOME, SIZES[0])] * (some is not None)
    held = [_holds_sum(fn, group, members, numel) for group, members, numel in trials if rank in members]
    return all(held)


def _holds_sum(fn: Callable[..., Any], group: dist.ProcessGroup | None, members: tuple[int, ...], numel: int) -> bool:
    own = {member: torch.arange(numel) * 100**member + member + 1 for member in members}
    wanted = torch.stack(list(own.values())).sum(0)
    tensor = own[dist.get_rank()].clone()
    returned = fn(tensor, group=group)
    held = tensor if returned is None else returned
    return isinstance(held, torch.Tensor) and torch.equal(held, wanted)
