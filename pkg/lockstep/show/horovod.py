"""horovod(): what each tensor went through in Horovod's own timeline, drawn as the course draws what ranks did."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lockstep.errors import UsageError
from lockstep.events import Event, Trace
from lockstep.show import lanes, quantities
from lockstep.show.lanes import Join, Lanes
from lockstep.show.timeline import Timeline
from lockstep.with_horovod import timeline as written
from lockstep.with_horovod.timeline import Operation, Ready, Span

LETTER, MOST_LETTERS = 7, 26  # pixels of a letter; letters of a tensor's name that are shown
READY = "rank ready"


@dataclass(frozen=True)
class Tensors(Lanes):
    """A lane for each tensor: above, how long it was negotiated and carried; below, the phases of that, and when each
    rank had it ready."""

    tensors: tuple[str, ...] = ()
    operations: tuple[Operation, ...] = ()
    cached: bool = False  # whether some negotiation names no ranks
    cycles: int | None = None
    begin: float = 0.0  # seconds in the timeline at which the figure begins

    @property
    def ranks(self) -> int:
        return len(self.tensors)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(name if len(name) <= MOST_LETTERS else f"…{name[1 - MOST_LETTERS :]}" for name in self.tensors)

    @property
    def whose(self) -> tuple[str, ...]:
        return self.tensors

    @property
    def labelled(self) -> int:
        return 16 + LETTER * max(map(len, self.labels))

    @property
    def joins(self) -> tuple[Join, ...]:
        place = {name: i for i, name in enumerate(self.tensors)}
        return tuple(
            Join(tuple(sorted(place[name] for name in o.tensors)), o.begin - self.begin, o.end - self.begin)
            for o in self.operations
            if len(o.tensors) > 1
        )

    @cached_property
    def notes(self) -> tuple[str, ...]:
        fused = ("joined by lines and dots: tensors that were fused",) if self.joins else ()
        return (*fused, "negotiated without a rank ready: from the cache") if self.cached else fused

    def describe(self, e: Event) -> str:
        parts = (e.kind, quantities.nbytes(e.nbytes) if e.nbytes else "", e.where, lanes.times(e))
        return f"{self.tensors[e.rank]}: " + " · ".join(filter(None, parts))

    def words(self) -> str:
        return "One lane for each tensor, time from left to right."

    def caption(self) -> str:
        """``5 tensors · 45 ms · 3 ALLREDUCE carried 12 tensors``: each counts as often as it was carried. And
        how many cycles there were, if they are marked."""
        parts = [quantities.count(len(self.tensors), "tensor"), f"{quantities.seconds(self.total)} of measured time"]
        for kind in sorted({o.kind for o in self.operations}):
            carried = [len(o.tensors) for o in self.operations if o.kind == kind]
            parts.append(f"{len(carried)} {kind} carried {quantities.count(sum(carried), 'tensor')}")
        return " · ".join(parts + ([quantities.count(self.cycles, "cycle")] if self.cycles else []))


class HorovodTimeline(Timeline):
    """The timeline's figure with tensors for ranks. See ``horovod``."""

    title = "Horovod's timeline"

    def __init__(self, timeline: written.Timeline) -> None:
        self.lanes = tensors(timeline)
        self.waits = None


def horovod(of: Any) -> HorovodTimeline:
    """Draw Horovod's timeline: what ``run_horovod(…, timeline=True)`` gave, or the list that ``timeline.read`` gives.

    Each tensor has a lane, with its phases in Horovod's words, and a tick where the coordinator knew that a rank had it
    ready. Lines with dots join what was carried out in one operation. Keys are those of ``timeline``. Raises UsageError
    if there is no timeline.
    """
    found = of if isinstance(of, list) else getattr(of, "timeline", None)
    if not isinstance(found, list) or not all(isinstance(e, dict) and "ph" in e for e in found):
        raise UsageError(
            f"horovod() draws the timeline of a run of Horovod's, not a {type(of).__name__}.",
            "Give it what run_horovod(…, timeline=True) gave.",
        )
    if not written.spans(found):
        raise UsageError("This timeline has no tensor.", "Run with timeline=True, and reduce one.")
    return HorovodTimeline(found)


def tensors(timeline: written.Timeline) -> Tensors:
    """The lanes of a timeline's tensors, in the order in which Horovod first met them."""
    spans, ready, operations = written.spans(timeline), written.readiness(timeline), written.operations(timeline)
    order = tuple(dict.fromkeys(span.tensor for span in spans))
    place = {name: i for i, name in enumerate(order)}
    begin = spans[0].begin
    carriers = _carriers(spans, operations)
    marked = [
        (_bar(span, place[span.tensor], begin, carrier, operations), min(span.depth, 1))
        for span, carrier in zip(spans, carriers, strict=True)
    ]
    marked += [
        (Event(place[r.tensor], READY, r.time - begin, r.time - begin, where=f"rank {r.rank}"), 1) for r in ready
    ]
    marked.sort(key=lambda one: (one[0].start, one[0].rank))
    trace = Trace(tuple(event for event, _ in marked), len(order), "processes")
    return Tensors(
        trace, tuple(row for _, row in marked), (), trace.time, (), order, tuple(operations),
        _cached(spans, ready), written.counts(timeline).cycles, begin,
    )  # fmt: skip


def _carriers(spans: list[Span], operations: list[Operation]) -> list[int | None]:
    """For each span the operation that it is part of, by its place; None for negotiations."""
    begins = [o.begin for o in operations]
    last = [bisect_right(begins, span.begin) - 1 for span in spans]
    return [
        i if i >= 0 and span.tensor in operations[i].tensors and span.end <= operations[i].end else None
        for span, i in zip(spans, last, strict=True)
    ]


def _bar(span: Span, lane: int, begin: float, carrier: int | None, operations: list[Operation]) -> Event:
    """Bars of one operation have the same ``message``, and are shown together."""
    others = [] if carrier is None else [name for name in operations[carrier].tensors if name != span.tensor]
    told = "" if span.ended else "the timeline ends before it does"
    return Event(
        lane, span.phase, span.begin - begin, span.end - begin, span.nbytes or 0, message=carrier,
        where=f"together with {', '.join(others)}" if others else told,
    )  # fmt: skip


def _cached(spans: list[Span], ready: list[Ready]) -> bool:
    """Whether some tensor was negotiated, and no rank is named."""
    heard: dict[str, list[float]] = defaultdict(list)
    for one in ready:
        heard[one.tensor].append(one.time)
    negotiated = [span for span in spans if span.phase.startswith(written.NEGOTIATE)]
    return any(not any(span.begin <= t <= span.end for t in heard[span.tensor]) for span in negotiated)
