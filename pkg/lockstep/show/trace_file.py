"""trace_file(): a file in Chrome's trace format, Lockstep's own or a profiler's, drawn as the course draws a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lockstep.chrome_traces.kinds import OTHER
from lockstep.chrome_traces.spans import Recording, Span, recording
from lockstep.events import Event, Trace
from lockstep.show import lanes, quantities
from lockstep.show.lanes import Lanes
from lockstep.show.timeline import MOST, Timeline, timeline

DEEPEST = 8  # rows of a thread; what is nested deeper is drawn in the last one
MOST_LANES = 24  # threads and streams, those with the most to show
LETTER, MOST_LETTERS = 7, 24  # pixels of a letter; letters of a lane's name that are shown


@dataclass(frozen=True)
class Rows(Lanes):
    """The rows of threads and streams: in the first one what is outermost, below it what happened within that."""

    names: tuple[str, ...] = ()  # of the thread or stream, for each row
    number: int = 0  # of threads and streams
    told: tuple[str, ...] = ()  # what else the caption says

    @property
    def labels(self) -> tuple[str, ...]:
        """The name at a thread's first row only."""
        pairs = zip(self.names, (None, *self.names), strict=False)
        return tuple("" if name == before else _short(name) for name, before in pairs)

    @property
    def whose(self) -> Sequence[str]:
        return self.names

    @property
    def named(self) -> tuple[str, ...]:
        return OTHER

    @property
    def labelled(self) -> int:
        return 16 + LETTER * max(map(len, self.labels), default=0)

    def describe(self, e: Event) -> str:
        told = e.name if e.kind in OTHER or not e.name else f"{e.kind} · {e.name}"
        parts = (told, quantities.nbytes(e.nbytes) if e.nbytes else "", lanes.times(e))
        return f"{self.names[e.rank]}: " + " · ".join(filter(None, parts))

    def words(self) -> str:
        return "One lane for each thread and each stream of a GPU, what is nested below it; time from left to right."

    def caption(self) -> str:
        return " · ".join((
            quantities.count(self.number, "thread or stream", "threads and streams"),
            f"{quantities.seconds(self.total)} of measured time", *self.told,
        ))  # fmt: skip


class TraceFile(Timeline):
    """The timeline's figure with threads and streams for ranks. See ``trace_file``."""

    def __init__(self, of: Recording) -> None:
        self.lanes: Lanes = rows(of)
        self.waits = None
        self.title = of.name


def trace_file(of: str | Path | Recording) -> Timeline:
    """Draw a file in Chrome's trace format, plain or compressed: that of `lockstep run --trace`, of torch.profiler, or
    of another program. A page has the 50,000 longest spans of a profiler's, and the threads that have most of them.

    Raises UsageError for anything else."""
    read = of if isinstance(of, Recording) else recording(of)
    return timeline(read.run) if read.run else TraceFile(read)


def rows(of: Recording) -> Rows:
    """What is drawn of a recording, laid out."""
    kept = _lanes_with_most(of)
    there = [span for span in of.spans if span.lane in kept]
    shown, shortest = _longest(there)
    deep = _nested(shown)
    depth: dict[int, int] = defaultdict(int)
    for span, row in zip(shown, deep, strict=True):
        depth[span.lane] = max(depth[span.lane], row + 1)
    first, names = dict[int, int](), list[str]()
    for lane in sorted(depth):
        first[lane] = len(names)
        names += depth[lane] * [of.lanes[lane].name]
    events = [
        Event(first[s.lane] + row, s.kind, s.begin, s.end, s.nbytes, name="" if s.name == s.kind else s.name)
        for s, row in zip(shown, deep, strict=True)
    ]
    names = names or [of.name]
    trace = Trace(tuple(events), len(names), "processes")
    told = (f"{quantities.count(len(shown), 'span')}", *_left_out(of, there, shown, shortest, kept))
    return Rows(trace, (0,) * len(events), (), of.total, names=tuple(names), number=len(kept), told=told)


def _lanes_with_most(of: Recording) -> set[int]:
    seconds: dict[int, float] = defaultdict(float)
    for span in of.spans:
        seconds[span.lane] += span.end - span.begin
    order = sorted(seconds, key=lambda lane: (not of.lanes[lane].is_stream, -seconds[lane]))
    return set(order[:MOST_LANES])


def _longest(spans: list[Span]) -> tuple[list[Span], float]:
    """As many as a page is given, in their order, and the duration below which none is among them."""
    if len(spans) <= MOST:
        return spans, 0.0
    by_length = sorted(range(len(spans)), key=lambda i: spans[i].begin - spans[i].end)
    kept = by_length[:MOST]
    return [spans[i] for i in sorted(kept)], spans[kept[-1]].end - spans[kept[-1]].begin


def _nested(spans: list[Span]) -> list[int]:
    """The row of each within its lane: the first that is free. ``spans``: in order of beginning."""
    ends: dict[int, list[float]] = defaultdict(list)
    found = []
    for span in spans:
        mine = ends[span.lane]
        row = next((row for row, end in enumerate(mine) if end <= span.begin), len(mine))
        row = min(row, DEEPEST - 1)
        mine[row:] = [max([span.end, *mine[row : row + 1]]), *mine[row + 1 :]]
        found.append(row)
    return found


def _left_out(of: Recording, there: list[Span], shown: list[Span], shortest: float, kept: set[int]) -> list[str]:
    told = []
    if len(there) > len(shown):
        told.append(f"{len(there) - len(shown):,} shorter than {quantities.seconds(shortest)} left out")
    if more := len({s.lane for s in of.spans}) - len(kept):
        told.append(f"{quantities.count(more, 'thread')} left out")
    return told


def _short(name: str) -> str:
    return name if len(name) <= MOST_LETTERS else f"…{name[1 - MOST_LETTERS :]}"
