"""What lasted from when to when, on which thread of a CPU or stream of a GPU: the spans of any trace file."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from lockstep.chrome_traces import events_of_file, kinds, run_of_file
from lockstep.chrome_traces.events_of_file import Raw, shown
from lockstep.errors import UsageError
from lockstep.events import Trace

MOST_EVENTS, MOST_SPANS, MOST_LANES = 10_000_000, 3_000_000, 10_000
LONGEST_NAME = 160
MICROSECOND = 1e-6


class Span(NamedTuple):
    """``kind``: "compute" and others of ``kinds``, or an operation of torch.distributed. Seconds since the first span
    of the file began."""

    lane: int
    begin: float
    end: float
    kind: str
    name: str
    nbytes: int = 0  # of what communicates, if that is known


@dataclass
class Lane:
    """A thread, or a stream of a GPU. Computing hides communication on the lanes of the same ``device``."""

    name: str
    device: str
    is_stream: bool = False


@dataclass
class Recording:
    """The spans of a file, in order of beginning; of spans that begin together the longest is first."""

    name: str  # of the file
    lanes: list[Lane]
    spans: list[Span]
    total: float  # seconds
    events: int  # in the file
    run: Trace | None = None  # of a file that Lockstep has written
    whole: bool = True  # False: the file has no end
    rank: int | None = None  # that a foreign trace was recorded on
    unended: int = 0  # spans that had begun, and whose end is not in the file


def recording(file: str | Path) -> Recording:
    """Read a trace file. Raises UsageError for anything else, and for a file too large to be held."""
    path = Path(file)
    if not path.is_file():
        raise UsageError(f"There is no file {path}.", "Name a trace: lockstep run --trace trace.json writes one.")
    reader = _Reader(path.name)
    whole = events_of_file.read(path, reader.about, reader.take)
    return reader.recording(whole)


def of_run(run: Trace, name: str, events: int) -> Recording:
    """A run of Lockstep's own: each rank is a lane, and hides its own communication."""
    lanes = [Lane(f"rank {rank}", f"rank {rank}") for rank in range(run.ranks)]
    spans = [Span(e.rank, e.posted, e.end, e.kind, e.name or e.kind, e.nbytes) for e in run]
    spans.sort(key=lambda s: (s.begin, -s.end))
    return Recording(name, lanes, spans, run.time, events, run)


@dataclass
class _Reader:
    name: str
    events: int = 0
    begun: int = 0  # pairs
    about: dict[str, Any] = field(default_factory=dict)
    found: list[tuple[int, float, float, str, str, int, int]] = field(default_factory=list)
    lanes: dict[tuple[Any, Any, bool], int] = field(default_factory=dict)
    streams: set[int] = field(default_factory=set)
    open: dict[tuple[Any, ...], list[Raw]] = field(default_factory=lambda: defaultdict(list))
    said: dict[tuple[str, Any, Any], str] = field(default_factory=dict)  # of a thread or process: its name and others
    names: dict[str, str] = field(default_factory=dict)
    ours: run_of_file.Rows | None = None

    def take(self, event: Raw) -> None:
        self.events += 1
        if self.events > MOST_EVENTS:
            raise self._too_many("events", MOST_EVENTS)
        phase = event["ph"]
        if ours := self._ours():
            ours.take(event)
        elif phase == "X":
            ts = float(event["ts"])
            self._span(event, ts, ts + float(event["dur"]))
        elif phase in "BEbe":
            self._pair(event, phase)
        elif phase == "M":
            self._said(event)

    def _pair(self, event: Raw, phase: str) -> None:
        """A beginning is kept until its end comes: the last one of its thread, or of its id."""
        of_thread = phase in "BE"
        key = ("", event.get("pid"), event.get("tid")) if of_thread else tuple(
            str(event.get(part)) for part in ("cat", "id", "pid", "name")
        )  # fmt: skip
        if phase in "Bb":
            self.begun += 1
            if self.begun > MOST_SPANS:
                raise self._too_many("spans", MOST_SPANS)
            self.open[key].append(event)
        elif self.open[key]:
            first = self.open[key].pop()
            both = {**first.get("args", {}), **event.get("args", {})}
            self._span({**first, "args": both}, float(first["ts"]), float(event["ts"]))

    def _left_open(self) -> int:
        """What never ended lasts until the end, as in a trace of a program that hung."""
        left = [event for events in self.open.values() for event in events]
        last = max([0.0, *(float(event["ts"]) for event in left), *(end for _, _, end, *_ in self.found)])
        for event in left:
            self._span(event, float(event["ts"]), last)
        return len(left)

    def _span(self, event: Raw, begin: float, end: float) -> None:
        category, args = event.get("cat", ""), event.get("args", {})
        if category == "Trace":  # the profiler's own, around all others
            return
        if len(self.found) >= MOST_SPANS:
            raise self._too_many("spans", MOST_SPANS)
        name, category = event.get("name", ""), category if isinstance(category, str) else ""
        kind, source = kinds.kind_of(category, name, args)
        lane = self._lane(event.get("pid"), event.get("tid"), kind == kinds.PYTHON)
        if category.lower() in kinds.ON_A_STREAM:
            self.streams.add(lane)
        nbytes = kinds.payload(args) if source else 0
        self.found.append((lane, begin, max(begin, end), kind, self._short(name), nbytes, source))

    def _lane(self, pid: Any, tid: Any, python: bool) -> int:
        number = self.lanes.setdefault((pid, tid, python), len(self.lanes))
        if number >= MOST_LANES:
            raise self._too_many("threads", MOST_LANES)
        return number

    def _too_many(self, what: str, most: int) -> UsageError:
        return UsageError(
            f"{self.name} has more than {most:,} {what}.",
            "Record fewer steps, as by torch.profiler.schedule(wait=1, warmup=1, active=3).",
        )

    def _short(self, name: str) -> str:
        if name not in self.names:
            self.names[name] = shown(name, LONGEST_NAME)
        return self.names[name]

    def _said(self, event: Raw) -> None:
        """``thread_name``, ``process_name``, ``process_labels``: what a lane is called."""
        what, values = event.get("name", ""), [v for v in event.get("args", {}).values() if isinstance(v, str)]
        if values and len(self.said) < 3 * MOST_LANES and what in ("thread_name", "process_name", "process_labels"):
            thread = event.get("tid") if what == "thread_name" else None
            self.said[what, event.get("pid"), thread] = shown(values[0].strip(), 40)

    def _ours(self) -> run_of_file.Rows | None:
        """Of a file that Lockstep has written, which says so before its events."""
        if self.ours is None and "lockstep" in self.about and not self.found:
            self.ours = run_of_file.Rows(self.about["lockstep"], self.name)
        return self.ours

    def recording(self, whole: bool) -> Recording:
        if ours := self._ours():
            return of_run(ours.trace(), self.name, self.events)
        unended = self._left_open()
        place = {number: i for i, number in enumerate(self._order())}
        best = max((source for *_, source in self.found), default=0)
        first = min((begin for _, begin, *_ in self.found), default=0.0)
        spans = [
            Span(
                place[lane], (begin - first) * MICROSECOND, (end - first) * MICROSECOND,
                kinds.ANNOTATION if 0 < source < best else kind, name, nbytes,
            )
            for lane, begin, end, kind, name, nbytes, source in self.found
        ]  # fmt: skip
        spans.sort(key=lambda s: (s.begin, -s.end))
        keys = list(self.lanes)
        lanes = [self._called(*keys[number], number) for number in place]
        total = max((s.end for s in spans), default=0.0)
        return Recording(self.name, lanes, spans, total, self.events, None, whole, self._rank(), unended)

    def _order(self) -> list[int]:
        """Threads before streams, each process by itself, and numbers as numbers."""

        def place(key: tuple[Any, Any, bool]) -> tuple[Any, ...]:
            is_number = [isinstance(part, int) for part in key[:2]]
            sortable = [
                (0, part, "") if known else (1, 0, str(part)) for part, known in zip(key, is_number, strict=False)
            ]
            return self.lanes[key] in self.streams, *sortable, key[2]

        return [self.lanes[key] for key in sorted(self.lanes, key=place)]

    def _rank(self) -> int | None:
        about = self.about.get("distributedInfo")
        rank = about.get("rank") if isinstance(about, dict) else None
        return rank if isinstance(rank, int) and rank >= 0 else None

    def _called(self, pid: Any, tid: Any, python: bool, number: int) -> Lane:
        process = self.said.get(("process_name", pid, None), "")
        thread = self.said.get(("thread_name", pid, tid), shown(f"thread {tid}", 40))
        if number in self.streams:
            device = self.said.get(("process_labels", pid, None)) or shown(f"GPU {pid}", 40)
            stream = thread if "stream" in thread else shown(f"stream {tid}", 40)
            return Lane(f"{device} {stream}", f"{pid}", is_stream=True)
        of = f"{process} {thread}" if process and len({p for p, *_ in self.lanes}) > 1 else thread
        return Lane(f"{of}: Python" if python else of, f"{pid}")
