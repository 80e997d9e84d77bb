"""Mismatch detection: whether matched operations fit together, and the error if not. The same in every world."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from lockstep import deadlock_report
from lockstep.comm.operation import Operation
from lockstep.deadlock_report import ANY_SOURCE
from lockstep.errors import Mismatch, RankState


def agree(a: Operation, b: Operation) -> bool:
    """Whether two operations can be parts of one collective. An unknown reduction fits any."""
    if (a.kind, a.peer, a.fits) != (b.kind, b.peer, b.fits):
        return False
    return a.reduction == b.reduction or not a.reduction or not b.reduction


def different(parts: Sequence[Operation]) -> Mismatch | None:
    """The error of parts that do not agree, naming the lowest rank and the first that differs from it; None if all
    agree."""
    parts = sorted(parts, key=lambda p: p.rank)
    other = next((p for p in parts if not agree(p, parts[0])), None)
    if other is None:
        return None
    kinds = {parts[0].rank: parts[0].kind, other.rank: other.kind}
    return deadlock_report.different(kinds, [rank_state(p, signed=True) for p in parts])


def ill_cut(parts: Sequence[Operation]) -> Mismatch | None:
    """The error of an all_to_all in which a rank sends a piece of another size than its receiver expects, or None."""
    seat = {p.rank: p.group.index(p.rank) for p in parts}
    for target, source in product(parts, parts):
        piece, room = source.sends[seat[target.rank]], target.takes[seat[source.rank]]
        if piece != room:
            sent, expected = (f"{n} elements of {source.fits[0][1]}" for n in (piece, room))
            states = list(map(rank_state, parts))
            return deadlock_report.ill_cut(target.kind, f"rank {source.rank} has", sent, target.rank, expected, states)
    return None


def of_collective(parts: Sequence[Operation]) -> Mismatch | None:
    """The mismatch among the parts of one collective, or None."""
    if error := different(parts):
        return error
    whole = len(parts) == len(parts[0].group)
    return ill_cut(parts) if parts[0].kind == "all_to_all" and whole else None


def of_message(send: Operation, recv: Operation) -> Mismatch | None:
    """The mismatch between the two ends of a message, or None."""
    if send.fits == recv.fits:
        return None
    sent, room = (f"{n} elements of {dtype}" for o in (send, recv) for n, dtype in o.fits[:1])
    return deadlock_report.misfit(send.rank, sent, recv.rank, room, [rank_state(send), rank_state(recv)])


def rank_state(o: Operation, signed: bool = False) -> RankState:
    """The state of a rank that waits for its operation ``o``. ``signed``: with the sizes and dtypes that must agree."""
    told = f"{o} {described(o)}".rstrip() if signed else str(o)
    place = o.stands if o.waiting and o.stands.file else o.place
    held = next((end for end in (o, *o.together) if end.behind), None)
    behind = (held.rank, str(held.behind())) if held and held.behind else None
    any_source = o.peer == ANY_SOURCE
    return RankState(
        o.rank, "waiting", told, str(place), place.source, o.waits_for, any_source=any_source, behind=behind,
        kind=o.kind, queue=(held or o).queue,
    )  # fmt: skip


def described(o: Operation) -> str:
    """ "(SUM, 3 elements of float32)"."""
    sizes = [] if o.kind == "all_to_all" else [f"{n} elements of {dtype}" for n, dtype in o.fits]
    told = [o.reduction] * bool(o.reduction) + sizes
    return f"({', '.join(told)})" if told else ""
