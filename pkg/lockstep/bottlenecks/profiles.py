"""What a training loop loses, and to what: from its profile, the share of the time that each cure gives back.

A step begins on all ranks when the sums of the one before are there. Each rank waits for its batch, computes, and reads
numbers back; then come the all-reduces, which begin when the last rank does. So a step takes

    max over the ranks of (waiting + computing + reading back)  +  the all-reduces of the rank that comes last

and a cause costs what this is shorter without it: not the sum of its spans, since what one rank does while another one
is slower anyway costs nothing, and an all-reduce that is long on all ranks but one waits for that one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import mean
from typing import NamedTuple

LOADER, READS, STRAGGLER, MESSAGES = CAUSES = "loader", "synchronisation", "straggler", "small messages"
WAITING, COMPUTING, READING = ("next(loader)",), ("forward", "backward", "optimizer.step"), (".item()", "print")
ALL_REDUCE = "all_reduce"
LEAST = 0.05  # of the time: a cause that costs less is none


class Span(NamedTuple):
    """What a rank does from ``begin`` to ``end``, in microseconds."""

    rank: int
    step: int
    name: str
    begin: int
    end: int


@dataclass
class Own:
    """The microseconds that a rank spends in one step, by kind, and how many all-reduces it calls."""

    waiting: int = 0
    computing: int = 0
    reading: int = 0
    reducing: int = 0
    calls: int = 0

    def add(self, span: Span) -> None:
        took = span.end - span.begin
        if span.name == ALL_REDUCE:
            self.reducing += took
            self.calls += 1
        elif span.name in WAITING:
            self.waiting += took
        elif span.name in READING:
            self.reading += took
        else:
            self.computing += took


@dataclass
class Step:
    """One step of all ranks."""

    ranks: dict[int, Own] = field(default_factory=lambda: defaultdict(Own))

    def takes(self, without: str = "", call_cost: float = 0.0) -> float:
        """Microseconds, as it was or without one of the CAUSES: no rank waits for its batch; none reads numbers back;
        all compute equally long; one all-reduce carries everything."""
        own = list(self.ranks.values())
        equal = mean(one.computing for one in own)
        longest = max(
            one.waiting * (without != LOADER)
            + one.reading * (without != READS)
            + (equal if without == STRAGGLER else one.computing)
            for one in own
        )
        saved = call_cost * max(0, own[0].calls - 1) if without == MESSAGES else 0
        return longest + min(one.reducing for one in own) - saved


def steps_of(spans: Iterable[tuple[int, int, str, int, int]]) -> Mapping[int, Step]:
    """The steps of a profile, by number."""
    found: dict[int, Step] = defaultdict(Step)
    for span in (Span(*one) for one in spans):
        found[span.step].ranks[span.rank].add(span)
    return found


def costs(spans: Iterable[tuple[int, int, str, int, int]], call_cost: float) -> dict[str, float]:
    """For each of the CAUSES, the share of the time that its cure alone would give back. ``call_cost``: microseconds of
    an all-reduce without bytes."""
    steps = list(steps_of(spans).values())
    total = sum(step.takes() for step in steps)
    return {cause: 1 - sum(step.takes(cause, call_cost) for step in steps) / total for cause in CAUSES}


def name_the_bottleneck(spans: Iterable[tuple[int, int, str, int, int]], call_cost: float) -> tuple[float, ...]:
    """The ``costs`` in the order of CAUSES; 0 for less than 5 % of the time. All are 0 where the loop is healthy."""
    return tuple(share if share >= LEAST else 0.0 for share in costs(spans, call_cost).values())
