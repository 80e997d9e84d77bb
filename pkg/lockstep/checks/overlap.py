"""Overlap: how much of a rank's transfers lies under its compute. On the virtual cluster it is measured in time; on
real processes, where nobody sees how long a transfer travels, by what was computed between its start and the wait for
it: by the order of the program."""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.events import Event

HIDDEN = 0.8  # share of the shorter of transfers and compute that must lie under the other


def exposed(seen: Seen, flops: int, of: str) -> list[Fault]:
    """The first rank whose transfers are not hidden behind its compute, ``of`` by name, which takes so many
    FLOPs. Without compute events on the virtual cluster there is nothing to judge."""
    for rank in seen.case.members if seen.case.size > 1 else ():
        events = seen.trace.of_rank(rank)
        computing = [e for e in events if e.kind == "compute" and e.flops > 0]
        moving = [e for e in events if e.kind not in ("compute", "barrier")]
        if moving and computing and (share := _hidden(computing, moving)) < HIDDEN:
            overlap = f"overlap for {share:.0%} of the time that they could" if share > 0 else "do not overlap at all"
            begin = f"With {seen.case}, the transfer and {of} {overlap} on rank {rank}."
            return [_why(begin, of, computing, moving)]
        if (share := _beside(moving, flops)) < HIDDEN:
            return [_out_of_order(f"With {seen.case}, rank {rank}", of, share, moving)]
    return []


def _advice(of: str) -> str:
    return f"Start the whole transfer, then compute the whole of {of}, then wait."


def _why(begin: str, of: str, computing: Sequence[Event], moving: Sequence[Event]) -> Fault:
    if min(e.posted for e in moving) >= max(e.end for e in computing):
        return Fault("starts-too-late", f"{begin} The transfer starts when {of} is ready: start it first.")
    if max(e.end for e in moving) <= min(e.posted for e in computing):
        told = f"The transfer is over before {of} begins: call wait() only after {of}."
        return Fault("waits-at-once", f"{begin} {told}")
    return Fault("little-overlap", f"{begin} {_advice(of)}")


def _out_of_order(begin: str, of: str, share: float, moving: Sequence[Event]) -> Fault:
    if not any(e.meanwhile for e in moving):
        told = "has torch compute no product between the start of a transfer and the wait for it. Start it, compute, "
        return Fault("waits-at-once", f"{begin} {told}and only then wait.")
    told = f"computes the whole of {of} between start and wait for {share:.0%} of the bytes that travel."
    return Fault("little-overlap", f"{begin} {told} {_advice(of)}")


def _hidden(computing: Sequence[Event], moving: Sequence[Event]) -> float:
    """The share of the shorter of the two that lies under the other, in time."""
    compute, transfer = merged(computing), merged(moving)
    under = sum(max(0.0, min(c[1], t[1]) - max(c[0], t[0])) for c in compute for t in transfer)
    return under / min(_length(compute), _length(transfer))


def merged(events: Sequence[Event]) -> list[tuple[float, float]]:
    """The time that the events cover, as stretches that do not overlap."""
    stretches: list[tuple[float, float]] = []
    for event in sorted(events, key=lambda e: e.posted):
        if stretches and event.posted <= stretches[-1][1]:
            stretches[-1] = stretches[-1][0], max(stretches[-1][1], event.end)
        else:
            stretches.append((event.posted, event.end))
    return stretches


def _length(stretches: Sequence[tuple[float, float]]) -> float:
    return sum(end - begin for begin, end in stretches)


def _beside(moving: Sequence[Event], flops: int) -> float:
    """The share of the bytes whose transfer had so many FLOPs, or nearly, between its start and the wait for it. Where
    nobody knows they are taken to have been there."""
    whole = sum(e.nbytes for e in moving)
    beside = sum(e.nbytes for e in moving if e.meanwhile is None or e.meanwhile >= HIDDEN * flops)
    return beside / whole if whole else 1.0
