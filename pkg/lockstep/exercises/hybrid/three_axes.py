"""Ranks under three axes: cases with their sizes, the process groups of a rank, and what it sends on each axis.

``tp``, ``dp``, ``pp``   sizes of the axes, tp the fastest        ``rows``   examples of each micro-batch, by copy
``h``, ``m``             width of a row; of A, all parts          ``part``   widths of A's parts, where they differ
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from lockstep.checks.argument_changes import Compared
from lockstep.checks.budget import Measure
from lockstep.checks.case import Case
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.traffic import collectives, messages
from lockstep.events import COLLECTIVES, Event
from lockstep.exercises.without_waiting.evidence import case
from lockstep.hybrid.mesh import make_grid

AXES = ("tp", "dp", "pp")
CALLED = set(COLLECTIVES) - {"barrier"}


def case_of(ranks: int, seed: int, **settings: Any) -> Case:
    sizes = [f"{axis} = {settings[axis]}" for axis in AXES if settings[axis] > 1]
    return case(ranks, seed, None, *sizes, f"h = {settings['h']}", f"m = {settings['m']}", **settings)


def groups_of(case: Case, rank: int) -> dict[str, tuple[int, ...]]:
    """By axis, the ranks of this rank's group."""
    grid = make_grid(case.ranks, [case.settings[axis] for axis in AXES]) or []
    return {
        axis: next(tuple(ranks) for ranks in groups if rank in ranks) for axis, groups in zip(AXES, grid, strict=True)
    }


def seat(case: Case, rank: int) -> dict[str, int]:
    """By axis, this rank's place in its group."""
    return {axis: ranks.index(rank) for axis, ranks in groups_of(case, rank).items()}


def watch(fn: Any, given: tuple[Any, ...]) -> Any:
    """On a rank: makes the process groups of the last argument, (axis, all its groups), and calls ``fn`` with them."""
    *arguments, grid = given
    me, made = dist.get_rank(), {}
    for axis, groups in grid:
        for ranks in groups:
            group = dist.new_group(list(ranks))
            if me in ranks:
                made[axis] = group
    return plain(without_group(fn)(*arguments, made))


def without_group(fn: Any) -> Any:
    """``fn`` without the keyword ``group``, which this exercise's has not; what compares its arguments stays around."""
    if isinstance(fn, Compared):
        inner: Any = fn.fn
        fn.fn = inner.func
        return fn
    return fn.func


def axis_of(case: Case, event: Event) -> str:
    """The axis on which ``event`` goes among its rank's own group; "" for no axis. A rank alone is on any."""
    own = groups_of(case, event.rank)
    return next((axis for axis in AXES if own[axis] == tuple(sorted(event.group))), "")


def carried(axis: str) -> Callable[[Seen], float]:
    """Bytes of the collectives on an axis, of the rank that has most."""

    def count(seen: Seen) -> float:
        rows = dict.fromkeys(seen.case.members, 0)
        for event in collectives(seen.trace, CALLED) if seen.case.settings[axis] > 1 else ():
            rows[event.rank] += event.nbytes if axis_of(seen.case, event) == axis else 0
        return max(rows.values())

    return count


def _sent(seen: Seen) -> float:
    rows = dict.fromkeys(seen.case.members, 0)
    for message in messages(seen.trace):
        rows[message.source] += message.nbytes
    return max(rows.values())


ON_TP = Measure(carried("tp"), "byte", "on tp a rank's collectives carry {}", "{} on tp", "bytes-on-tp")
ON_DP = Measure(carried("dp"), "byte", "on dp a rank's collectives carry {}", "{} on dp", "bytes-on-dp")
ON_PP = Measure(_sent, "byte", "on pp a rank sends {}", "{} on pp", "bytes-on-pp")


def astray(seen: Seen) -> list[Fault]:
    """The first collective on no axis or on pp, and the first message to a rank that is no neighbour on pp."""
    case = seen.case
    for event in collectives(seen.trace, CALLED):
        axis = axis_of(case, event)
        if len(event.group) > 1 and axis not in ("tp", "dp"):
            where = "on pp, where messages do" if axis else f"among the ranks {list(event.group)}: none of its groups"
            told = f"rank {event.rank} calls {event.kind} {where}."
            return [Fault("wrong-group", f"With {case}, {told} Sums go on tp and on dp.", telling=True)]
    for m in messages(seen.trace):
        pipeline = groups_of(case, m.source)["pp"]
        if m.target not in pipeline or abs(pipeline.index(m.target) - pipeline.index(m.source)) != 1:
            told = f"rank {m.source} sends to rank {m.target}; its neighbours on pp are in {list(pipeline)}"
            return [Fault("wrong-peer", f"With {case}, {told}.", telling=True)]
    return []


def split(whole: torch.Tensor, parts: int, dim: int) -> list[torch.Tensor]:
    return [part.contiguous() for part in torch.tensor_split(whole, parts, dim)]
