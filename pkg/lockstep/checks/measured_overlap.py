"""Overlap: how much of a rank's communication is hidden behind its compute. On the virtual cluster it is measured in
time; on real processes, where nobody sees how long a transfer takes, in FLOPs between its start and the wait for it.

exposed(flops, of)    one transfer in parallel with one computation: a share
uncovered(of)         many transfers in the middle of a computation, as the buckets of a backward pass: by their order
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.events import Event

HIDDEN = 0.8  # share of the transfers, or of the compute if that is shorter, that must overlap with the other
SPARE = 1  # transfers, besides the last, that may overlap with nothing


def exposed(flops: int, of: str) -> Callable[[Seen], list[Fault]]:
    """Finds the first rank whose transfers are not hidden behind its compute, ``of`` by name, of so many FLOPs."""

    def economise(seen: Seen) -> list[Fault]:
        for rank in seen.case.members if seen.case.size > 1 else ():
            moving, computing = _events(seen, rank)
            share = hidden(moving, computing, flops)
            if share < HIDDEN:
                overlap = f"overlap by {share:.0%} of what they could" if share else "do not overlap at all"
                begin = f"With {seen.case}, the transfer and {of} {overlap} on rank {rank}."
                return [Fault(*_why(begin, of, share, moving, computing))]
        return []

    return economise


def uncovered(of: str) -> Callable[[Seen], list[Fault]]:
    """Finds the first rank with transfers during which nothing of ``of`` (a computation, by name) is computed. The last
    transfer carries what ``of`` ends with, and may be exposed; so may one more, as where only the next gradient shows
    that a bucket is full.
    """

    def economise(seen: Seen) -> list[Fault]:
        for rank in seen.case.members if seen.case.size > 1 else ():
            moving, computing = _events(seen, rank)
            bare = [m for m in moving[:-1] if not beside(m, computing)]
            if len(bare) > SPARE:
                begin = f"With {seen.case}, rank {rank}"
                return [Fault(*_bare(begin, of, bare, moving, computing))]
        return []

    return economise


def beside(transfer: Event, computing: Sequence[Event]) -> float:
    """FLOPs that a rank began to compute between the start of a transfer and the wait for it, by the order of its
    program; infinite where nobody saw the wait."""
    if not computing:
        return math.inf if transfer.meanwhile is None else transfer.meanwhile
    until = transfer.end - transfer.wait if transfer.wait else math.inf  # it was there when it was waited for
    return sum(c.flops for c in computing if transfer.posted <= c.posted < until)


def _events(seen: Seen, rank: int) -> tuple[list[Event], list[Event]]:
    """A rank's transfers and its computations."""
    events = seen.trace.of_rank(rank)
    moving = [e for e in events if e.kind not in ("compute", "barrier")]
    return moving, [e for e in events if e.kind == "compute" and e.flops]


def _bare(
    begin: str, of: str, bare: Sequence[Event], moving: Sequence[Event], computing: Sequence[Event]
) -> tuple[str, str]:
    many = f"{len(bare)} of {len(moving)} transfers"
    late = [m for m in bare if computing and m.posted > max(c.posted for c in computing)]
    if len(late) == len(bare):
        return "starts-too-late", f"{begin} starts {many} when {of} is over: start each as soon as its data is there."
    if computing and not late:
        return "waits-at-once", f"{begin} waits for {many} before {of} goes on: wait when it is over."
    return (
        "little-overlap",
        f"{begin} computes nothing of {of} beside {many}: start them earlier, wait when it is over.",
    )


def _why(begin: str, of: str, share: float, moving: Sequence[Event], computing: Sequence[Event]) -> tuple[str, str]:
    if share > 0:
        return "little-overlap", f"{begin} Start the whole transfer, then compute the whole of {of}, then wait."
    if computing and min(e.posted for e in moving) >= max(e.end for e in computing):
        return "starts-too-late", f"{begin} The transfer starts when {of} is ready: start it first."
    return "waits-at-once", f"{begin} Start the transfer, compute {of}, and only then call wait()."


def hidden(moving: Sequence[Event], computing: Sequence[Event], flops: int) -> float:
    """The share of the possible overlap that there is: of time where there are compute events, else of bytes, each as
    far as FLOPs were computed during its transfer. Where nobody knows that, all are taken to be hidden."""
    length = sum(c.end - c.posted for c in computing)
    if length:
        beside = sum(max(0.0, min(c.end, m.end) - max(c.posted, m.posted)) for c in computing for m in moving)
        could = sum(min(m.end - m.posted, length) for m in moving)
    else:
        beside = sum(m.nbytes * (1.0 if m.meanwhile is None else min(1.0, m.meanwhile / flops)) for m in moving)
        could = sum(m.nbytes for m in moving)
    return beside / could if could else 1.0
