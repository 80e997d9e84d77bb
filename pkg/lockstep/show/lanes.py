"""The plain model of a timeline: which bar is in which lane, which arrow joins which bars.

Each rank has a lane. Blocking operations are in its first row; what runs in parallel with them (``isend``,
``async_op=True``) is put into the next row that is free, so that overlap is seen. A bar lasts from ``posted`` to
``end``, and is pale until ``start``: so long a communication waits for its other end, or for a port.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from lockstep.events import COLLECTIVES, POINT_TO_POINT, Count, Event, Trace
from lockstep.show import palette, quantities
from lockstep.show.phases import NAMES

ROWS = 4  # what overlaps even more shares the last row
LABELS, SPEEDS = 62, 56  # pixels left of the lanes for the names of ranks, and for their speeds where they differ
MOST_NOTES = 12
COMMUNICATION = frozenset((*POINT_TO_POINT, *COLLECTIVES))
KINDS = {kind: place for place, kind in enumerate(palette.KINDS)}
PALE = "pale: waits for its other end or a port"


@dataclass(frozen=True)
class Arrow:
    """A message: from ``source`` at ``start`` seconds to ``target`` at ``end``; the indices of its two events."""

    send: int
    recv: int
    source: int
    target: int
    start: float
    end: float


class Join(NamedTuple):
    """An operation of several lanes, drawn as lines across them, from ``start`` to ``end`` seconds."""

    lanes: tuple[int, ...]
    start: float
    end: float


class End(NamedTuple):
    """Where a run has ended, written behind its last bar: in which lane, and after how many seconds."""

    lane: int
    seconds: float


@dataclass(frozen=True)
class Lanes:
    """A trace, laid out, with a lane for each rank. ``rows[i]`` is the row of ``trace.events[i]`` within its lane."""

    trace: Trace
    rows: tuple[int, ...]
    arrows: tuple[Arrow, ...]
    total: float  # seconds
    ends: tuple[End, ...] = ()
    names_operations: bool = field(default=False, kw_only=True)  # whether bars bear torch's names of operations

    @classmethod
    def of(cls, trace: Trace, total: float | None = None) -> Lanes:
        return cls(trace, _rows(trace), _arrows(trace.events), max(trace.time, total or 0.0))

    @property
    def ranks(self) -> int:
        return max([self.trace.ranks, *(e.rank + 1 for e in self.trace)])

    @property
    def depth(self) -> int:
        """Rows in each lane."""
        return max(self.rows, default=0) + 1

    @property
    def labels(self) -> tuple[str, ...]:
        """What each lane is called."""
        return tuple(f"rank {rank}" for rank in range(self.ranks))

    @property
    def whose(self) -> Sequence[str]:
        """What each lane is called where there is room."""
        return self.labels

    @property
    def named(self) -> tuple[str, ...]:
        """The kinds whose bars bear the name of the event. Others bear that of their kind: "mm" says little to
        whoever did not call it."""
        return ("compute",) if self.names_operations else ()

    def written(self, e: Event) -> tuple[str, ...]:
        """What may be written into a bar, the first that has room: of a pass of training, layer and micro-batch, else
        the layer alone."""
        if e.name and e.kind in NAMES:
            return e.name, e.name.partition(", ")[0]
        return (e.name if e.name and e.kind in self.named else e.kind,)

    @property
    def labelled(self) -> int:
        """Pixels that the labels take."""
        return LABELS

    @property
    def joins(self) -> tuple[Join, ...]:
        """What is joined by lines across lanes, besides messages."""
        return ()

    @cached_property
    def kinds(self) -> frozenset[str]:
        return frozenset(e.kind for e in self.trace)

    @cached_property
    def waits(self) -> bool:
        """Whether any bar has a pale part."""
        return any(map(waits, self.trace))

    @cached_property
    def speeds(self) -> dict[int, str]:
        """The ranks that compute faster or slower than the others: ``{3: "0.5×"}``."""
        return {u.ranks[0]: f"{u.value:.3g}×" for u in self.trace.unequal if u.what == "speed" and u.value != 1}

    @property
    def left(self) -> int:
        """Pixels before the lanes begin."""
        return self.labelled + (SPEEDS if self.speeds else 0)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What differs between the ranks and links, as a legend says it: ``rank 3: 0.5× speed, 40 GB``."""
        by_ranks: dict[tuple[int, ...], list[str]] = defaultdict(list)
        for u in self.trace.unequal:
            by_ranks[u.ranks].append(WORDS[u.what](u.value))
        told = [": ".join(filter(None, (_whose(ranks), ", ".join(words)))) for ranks, words in by_ranks.items()]
        more = (f"and {quantities.count(len(told) - MOST_NOTES, 'more', 'more')}",) if len(told) > MOST_NOTES else ()
        return (*told[:MOST_NOTES], *more)

    def describe(self, e: Event) -> str:
        return describe(e)

    def words(self) -> str:
        """What the lanes are, for those who do not see them."""
        return "One lane for each rank, time from left to right."

    def caption(self) -> str:
        """``4 ranks · 1.2 ms of virtual time · 24 messages, 96 kB``, and the collectives, if any."""
        if not self.trace.events:
            return f"{quantities.count(self.ranks, 'rank')} · nothing was recorded"
        clock = "virtual time" if self.trace.world == "virtual" else "measured time"
        parts = [quantities.count(self.ranks, "rank"), f"{quantities.seconds(self.total)} of {clock}"]
        sent, calls = self.trace.sent(), collective_calls(self.trace.events)
        if sent.number or not calls.number:
            parts.append(f"{quantities.count(sent.number, 'message')}, {quantities.nbytes(sent.nbytes)}")
        if calls.number:
            parts.append(f"{quantities.count(calls.number, 'collective')}, {quantities.nbytes(calls.nbytes)}")
        return " · ".join(parts)


WORDS: Mapping[str, Callable[[float], str]] = {
    "speed": lambda value: f"{value:.3g}× speed",
    "memory": lambda value: f"{quantities.nbytes(value)} of memory",
    "bandwidth": lambda value: f"{quantities.nbytes(value)}/s",
    "latency": lambda value: f"latency {quantities.seconds(value)}",
    "compute jitter": lambda value: f"computing varies by {value:.3g}",
    "message jitter": lambda value: f"messages vary by {value:.3g}",
}


def _whose(ranks: tuple[int, ...]) -> str:
    return f"rank {ranks[0]}" if len(ranks) == 1 else f"link {ranks[0]}–{ranks[1]}" if ranks else ""


def collective_calls(events: Iterable[Event]) -> Count:
    """How many collectives ran, with how many bytes: a call counts once, with the payload of one rank."""
    payloads: dict[object, int] = {}
    turns: Counter[tuple[object, ...]] = Counter()
    for e in events:
        if e.kind not in COLLECTIVES:
            continue
        turns[e.rank, e.kind, e.group] += 1  # the ranks of a group make the same calls in the same order
        call = e.message if e.message is not None else (e.kind, e.group, turns[e.rank, e.kind, e.group])
        payloads[call] = max(payloads.get(call, 0), e.nbytes)
    return Count(len(payloads), sum(payloads.values()))


def computes(e: Event) -> bool:
    """Whether it is no communication: operations, or a phase of training (phases.py)."""
    return e.kind not in COMMUNICATION


def waits(e: Event) -> bool:
    """Whether it did not begin when it was posted. On real processes nobody knows, and none does."""
    return e.start > e.posted


def times(e: Event) -> str:
    """Two times and how long it took; all three where it had to wait."""
    posted, start, end = map(quantities.seconds, (e.posted, e.start, e.end))
    if not waits(e):
        return f"{posted} to {end}, {quantities.seconds(e.end - e.posted)} long"
    if e.message is None:
        return f"posted at {posted}, still waiting at {end}"
    return f"posted at {posted}, under way from {start} to {end}, {quantities.seconds(e.duration)} long"


def describe(e: Event) -> str:
    """An event in one line, for a pointer or a screen reader."""
    peer = {"send": " to rank {}", "recv": " from rank {}"}.get(e.kind, ", root {}").format(e.peer)
    parts = [
        (e.name or e.kind if e.kind == "compute" else e.kind) + (peer if e.peer is not None else ""),
        e.name if computes(e) and e.kind != "compute" else "",
        quantities.nbytes(e.nbytes) if e.nbytes else "",
        e.where,
        times(e),
    ]
    return f"rank {e.rank}: " + " · ".join(p for p in parts if p)


def _arrows(events: Sequence[Event]) -> tuple[Arrow, ...]:
    """Every send with its recv, by message. The arrow leaves when the message gets under way; where that is not known,
    when both ends were there, and within the send's bar."""
    sends: dict[int | None, int] = {e.message: i for i, e in enumerate(events) if e.kind == "send"}
    found = []
    for j, recv in enumerate(events):
        i = sends.get(recv.message) if recv.kind == "recv" and recv.message is not None else None
        if i is not None:
            send = events[i]
            leaves = max(send.start, min(recv.posted, send.end))
            found.append(Arrow(i, j, send.rank, recv.rank, leaves, max(leaves, recv.end)))
    return tuple(found)


def _rows(trace: Trace) -> tuple[int, ...]:
    rows = [0] * len(trace)
    by_rank: dict[int, list[int]] = defaultdict(list)
    for i, e in enumerate(trace.events):
        by_rank[e.rank].append(i)
    instant = trace.time / 4000  # the room of an event without duration
    for mine in by_rank.values():
        _pack(trace.events, mine, rows, instant)
    return tuple(rows)


def _pack(events: Sequence[Event], mine: Sequence[int], rows: list[int], instant: float) -> None:
    """Compute into row 0; communication into the first row that is free while it lasts."""
    starts = [events[i].posted for i in mine if computes(events[i])]
    ends = [events[i].end for i in mine if computes(events[i])]
    free = [0.0] * ROWS
    for i in sorted(mine, key=lambda i: (events[i].posted, KINDS.get(events[i].kind, -1))):
        e = events[i]
        if computes(e):
            continue
        busy = bisect_left(starts, e.end) > 0 and ends[bisect_left(starts, e.end) - 1] > e.posted
        fitting = (r for r in range(1 if busy else 0, ROWS) if free[r] <= e.posted)
        rows[i] = next(fitting, ROWS - 1)
        free[rows[i]] = max(e.end, e.posted + instant)
