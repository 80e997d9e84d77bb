"""inside_and_across(): the same step of a layer where its ranks share a node, and where each has a node of its own."""

from __future__ import annotations

from dataclasses import dataclass, field

from lockstep.events import Event, Trace
from lockstep.show import lanes
from lockstep.show.lanes import Lanes
from lockstep.show.timeline import Timeline
from lockstep.tensor_parallel.across_nodes import GPT_3, RANKS, Passed, Size, passed

NAMES = ("in a node", "a node each")


@dataclass(frozen=True)
class Places(Lanes):
    """A lane for rank 0 in each of the two runs."""

    seconds: tuple[float, float] = field(default=(0.0, 0.0))

    @property
    def labels(self) -> tuple[str, ...]:
        return NAMES

    @property
    def labelled(self) -> int:
        return 96

    def describe(self, e: Event) -> str:
        return f"{NAMES[e.rank]}: {e.name or e.kind} · {lanes.times(e)}"

    def words(self) -> str:
        return "One lane for rank 0 in each of two runs, time from left to right."

    def caption(self) -> str:
        told = (f"{name}: {1e3 * seconds:.1f} ms" for name, seconds in zip(NAMES, self.seconds, strict=True))
        return " · ".join([f"rank 0 of {RANKS}", *told])


class InsideAndAcross(Timeline):
    """See ``inside_and_across``."""

    title = "The same step on two topologies"

    def __init__(self, runs: tuple[Passed, Passed]) -> None:
        events = [e._replace(rank=lane) for lane, one in enumerate(runs) for e in one.trace.of_rank(0)]
        found = Lanes.of(Trace.of(events, len(runs), "virtual"))
        self.lanes = Places(found.trace, found.rows, (), found.total, (), (runs[0].time, runs[1].time))
        self.waits = None


def inside_and_across(size: Size = GPT_3) -> InsideAndAcross:
    """A forward and a backward pass of one layer on eight simulated A100: rank 0, with all ranks in a node, and with a
    node for each. What is computed and sent is the same."""
    return InsideAndAcross((passed(RANKS, RANKS, size), passed(1, RANKS, size)))
