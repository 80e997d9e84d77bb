"""What runs on every rank of an observed world: the learner's function, once for each case, and nothing clever."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import torch
import torch.distributed as dist

from lockstep.checks.argument_changes import comparing
from lockstep.checks.calls import UnderWay
from lockstep.checks.device import HOST, device_of_rank, moved
from lockstep.checks.exercise import Watch
from lockstep.checks.guard import look_ahead, references_refuse
from lockstep.checks.load import FromFile
from lockstep.checks.plain import plain
from lockstep.checks.salt import salt
from lockstep.checks.transport import encoded
from lockstep.events import Event, Trace
from lockstep.forking.gc_freeze import prepare
from lockstep.residency import booked, weighed
from lockstep.virtual import nested_runs

MARK = 13  # bytes: each case begins with a broadcast of this odd size, by which the trace is parted


@dataclass(frozen=True)
class Act:
    """One case as one rank needs it: who takes part, and this rank's arguments."""

    members: tuple[int, ...] | None
    arguments: tuple[Any, ...]
    tensors: bool  # whether any rank has one among its arguments: then all meet where theirs are
    weighed: bool = False  # whether it counts what a rank keeps in other things than tensors


def play(fns: Sequence[Callable[..., Any]], refused: str, watch: Watch, acts: Sequence[Act]) -> bytes:
    """Each of ``fns`` on this rank for each act: what ``watch`` saw, its arguments afterwards, and what it held."""
    devices = [device_of_rank() if act.tensors else HOST for act in acts]
    markers = {device: torch.zeros(MARK, dtype=torch.uint8, device=device) for device in devices}
    played = []
    with references_refuse(refused, play, FromFile, watch, [act.arguments for act in acts]):
        for fn, (act, device) in product(fns, zip(acts, devices, strict=True)):
            dist.broadcast(markers[device], src=0)  # by the backend that the act's tensors go by
            played.append(_play_one(fn, act, device, watch))
    return encoded(played)


def _play_one(fn: Callable[..., Any], act: Act, device: torch.device, watch: Watch) -> tuple[Any, ...]:
    rank = dist.get_rank()
    group = dist.new_group(list(act.members)) if act.members is not None else None
    if act.members is not None and rank not in act.members:
        return None, [], {}
    salt(fn)
    arguments = moved(copy.deepcopy(act.arguments), device)
    value, held = (weighed if act.weighed else booked)(watch, partial(fn, group=group), arguments)
    return value, [plain(a) for a in arguments], held


def play_each_pure(
    fns: Sequence[Callable[..., Any]], refused: str, watch: Watch, calls: Sequence[tuple[Any, ...]]
) -> bytes:
    """What ``watch`` writes down of each of several functions for the same calls; None for one that raises."""
    found = []
    with references_refuse(refused, play_each_pure, FromFile, watch, calls):
        for fn in fns:
            found.append(_attempt(fn.function() if isinstance(fn, FromFile) else fn, calls, watch))
    return encoded(found)


def play_pure(
    fn: Callable[..., Any], refused: str, watch: Watch, under_way: UnderWay, calls: Sequence[tuple[Any, ...]]
) -> bytes:
    """What ``watch`` writes down of ``fn`` for each tuple of arguments: no communication, one rank."""
    own = fn.function() if isinstance(fn, FromFile) else fn  # a watch may want its source or its machine code
    found = []
    nested_runs.tell(under_way.run)
    with references_refuse(refused, play_pure, FromFile, watch, calls):
        for number, arguments in enumerate(calls):
            under_way.begin(number)
            found.append(watch(own, copy.deepcopy(arguments)))
    return encoded(found)


def _attempt(fn: Callable[..., Any], calls: Sequence[tuple[Any, ...]], watch: Watch) -> list[Any] | None:
    try:
        return [watch(fn, arguments) for arguments in copy.deepcopy(calls)]
    except Exception:
        return None


def returned(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """The simplest watch: what ``fn`` returns."""
    return plain(fn(*arguments))


def part(trace: Trace, acts: int) -> list[Trace]:
    """The trace of each act of a run, its times counted from the act's beginning."""
    parts: list[list[Event]] = [[] for _ in range(acts)]
    for rank in range(trace.ranks):
        act = -1
        for event in trace.of_rank(rank):
            if _is_mark(event) and act < acts - 1:
                act += 1
            elif act >= 0:
                parts[act].append(event)
    return [Trace.of(_from_zero(events), trace.ranks, trace.world, trace.cluster, trace.unequal) for events in parts]


def begun(trace: Trace) -> int:
    """How many acts every rank has come to: a rank that is done with its own waits in the next mark."""
    return min((sum(map(_is_mark, trace.of_rank(rank))) for rank in range(trace.ranks)), default=0)


def astray(trace: Trace) -> str:
    """What carried a message of an act whose mark went by NCCL, if it was not NCCL: then its tensors are on GPUs, and
    this message's was not."""
    for rank in range(trace.ranks):
        expected = ""
        for event in trace.of_rank(rank):
            if _is_mark(event):
                expected = event.backend
            elif expected == "nccl" and event.nbytes and event.backend not in ("", "nccl"):
                return event.backend
    return ""


def _is_mark(event: Event) -> bool:
    """A learner's own broadcast has a line of theirs; a mark has none."""
    return event.kind == "broadcast" and event.nbytes == MARK and not event.where


def _from_zero(events: list[Event]) -> list[Event]:
    begin = min((e.posted for e in events), default=0.0)
    return [e._replace(start=e.start - begin, end=e.end - begin, posting=e.posted - begin) for e in events]


prepare(partial(look_ahead, references_refuse, encoded, FromFile, comparing(returned)))
