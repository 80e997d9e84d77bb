"""Lanes that several ranks share, because they did the same at the same time; and the lanes of several runs.

Where messages go from rank to rank, who sends to whom is the matter, and no rank is folded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby

from lockstep.events import Event, Outcome, Trace
from lockstep.show import lanes, quantities, svg
from lockstep.show.lanes import End, Lanes
from lockstep.show.phases import phased

FINE = 1e-6  # of the whole time: what differs by less is at the same time
WIDEST = 200  # pixels of a lane's name
BEYOND = 1.22  # how much longer than the longest run its axis is: there the time of each run stands


def alike(trace: Trace) -> list[tuple[int, ...]]:
    """The ranks, those together that did the same at the same time; each by itself where messages are sent."""
    ranks = range(max([trace.ranks, *(e.rank + 1 for e in trace)]))
    if trace.of_kind("send", "recv") or trace.world != "virtual":
        return [(rank,) for rank in ranks]
    unit = FINE * (trace.time or 1.0)
    did: dict[int, list[tuple[object, ...]]] = defaultdict(list)
    for u in trace.unequal:
        for rank in u.ranks:
            did[rank].append((u.what, u.value, u.ranks[:-1]))
    for e in trace:
        times = (round(t / unit) for t in (e.posted, e.start, e.end))
        did[e.rank].append((e.kind, e.nbytes, *times))
    found: dict[tuple[tuple[object, ...], ...], list[int]] = defaultdict(list)
    for rank in ranks:
        found[tuple(did[rank])].append(rank)
    return [tuple(together) for together in found.values()]


def told(ranks: Sequence[int]) -> str:
    """``rank 3``; ``ranks 0–2, 4–7``."""
    runs = [[rank for _, rank in run] for _, run in groupby(enumerate(ranks), lambda one: one[1] - one[0])]
    parts = ", ".join(f"{run[0]}" if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)
    return f"rank{'s' if len(ranks) > 1 else ''} {parts}"


@dataclass(frozen=True)
class SharedLanes(Lanes):
    """A lane for each of ``names``. The events' ranks are lanes; ``whole`` is what the caption counts."""

    names: tuple[str, ...] = ()
    whole: Lanes | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)  # of each run that is compared
    paces: Mapping[int, str] = field(default_factory=dict)  # lane → how fast it computes, if not as fast as the others

    @property
    def ranks(self) -> int:
        return len(self.names)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(svg.fitting(name, WIDEST - 12) for name in self.names)

    @property
    def labelled(self) -> int:
        return max(lanes.LABELS, round(12 + max(svg.length(label) for label in self.labels)))

    @cached_property
    def speeds(self) -> dict[int, str]:
        return dict(self.paces)

    def describe(self, e: Event) -> str:
        return f"{self.names[e.rank]}: {lanes.describe(e).partition(': ')[2]}"

    def words(self) -> str:
        return "Time goes from left to right; ranks that did the same at the same time share a lane."

    def caption(self) -> str:
        if self.whole is not None:
            return self.whole.caption()
        return " · ".join(f"{name}: {quantities.seconds(seconds)}" for name, seconds in self.seconds.items())


def folded(trace: Trace, total: float | None = None) -> Lanes:
    """The lanes of a run: one for each rank, or for several that are alike."""
    whole, groups = Lanes.of(trace, total), alike(trace)
    if len(groups) == whole.ranks:
        return whole
    lane = {group[0]: n for n, group in enumerate(groups)}
    events = [e._replace(rank=lane[e.rank]) for e in trace if e.rank in lane]
    found = Lanes.of(Trace.of(events, len(groups), trace.world, trace.cluster, trace.unequal), total)
    names = tuple(f"{told(group)}{' alike' if len(group) > 1 else ''}" for group in groups)
    paces = {lane[rank]: pace for rank, pace in whole.speeds.items() if rank in lane}
    return SharedLanes(found.trace, found.rows, (), whole.total, (), names, whole, paces=paces)


def side_by_side(runs: Mapping[str, Outcome]) -> SharedLanes:
    """Lanes of all runs; messages of different runs have different numbers."""
    events: list[Event] = []
    names: list[str] = []
    ends: list[End] = []
    for name, run in runs.items():
        trace = phased(run)
        groups = alike(trace)
        lane = {group[0]: len(names) + n for n, group in enumerate(groups)}
        after = 1 + max((e.message for e in events if e.message is not None), default=-1)
        events += [
            e._replace(rank=lane[e.rank], message=None if e.message is None else after + e.message)
            for e in trace
            if e.rank in lane
        ]
        ends.append(End(len(names), run.time))
        names += [name if len(groups) == 1 else f"{name}, {told(group)}" for group in groups]
    longest = max(run.time for run in runs.values())
    found = Lanes.of(Trace.of(events, len(names), "virtual"), BEYOND * longest)
    seconds = {name: run.time for name, run in runs.items()}
    return SharedLanes(found.trace, found.rows, found.arrows, found.total, tuple(ends), tuple(names), seconds=seconds)
