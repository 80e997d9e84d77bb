"""Traces of a training in which ranks are late, drawn: for the check of ``find_straggler``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from random import Random

from lockstep.events import Event, Trace
from lockstep.exercises.arithmetic import Calls

STEPS, SECONDS = 20, 0.02  # of an all-reduce
RANKS = (8, 5, 3, 8)
Late = Mapping[int, float]  # how many seconds longer ranks compute in a step than they usually do


def traces(dice: Random, once: float = 0.0, begin: float = 0.0, after: float = 0.0, at: int = 0) -> Calls:
    """One rank is slow in all steps. Another one has so many seconds more to compute ``once`` (in step ``at``, or in
    any but the first), before it begins, or after the last all-reduce."""
    found = []
    for K in RANKS:
        slow, other = dice.sample(range(K), 2)
        steps = [{slow: 0.4, other: 0.0} for _ in range(STEPS)]
        steps[at or dice.randrange(1, STEPS)][other] += once
        found.append((recorded(dice, K, steps, begin={other: begin}, after={other: after}),))
    return found


def by_turns(dice: Random, *steps: tuple[int, Late], seconds: float = SECONDS) -> Calls:
    """So many steps in which these ranks are late, in any order. Which ranks they are is drawn. An all-reduce takes
    ``seconds``."""
    found = []
    for K in RANKS:
        who, rows = dice.sample(range(K), K), [late for number, late in steps for _ in range(number)]
        renamed = [{who[n]: more for n, more in late.items()} for late in dice.sample(rows, len(rows))]
        found.append((recorded(dice, K, renamed, seconds),))
    return found


def recorded(
    dice: Random, K: int, steps: Sequence[Late], seconds: float = SECONDS, begin: Late | None = None,
    after: Late | None = None,
) -> Trace:  # fmt: skip
    now, events = [(begin or {}).get(rank, 0.0) for rank in range(K)], list[Event]()
    for step, late in enumerate(steps):
        for rank in range(K):
            now[rank] = computed(dice, events, rank, now[rank], dice.uniform(0.95, 1.05) + late.get(rank, 0.0))
        last = max(now)
        events += [Event(rank, "all_reduce", last, last + seconds, 4000, group=tuple(range(K)), message=step,
                         wait=last + seconds - now[rank], posting=now[rank]) for rank in range(K)]  # fmt: skip
        now = [last + seconds] * K
    for rank, more in (after or {}).items():
        computed(dice, events, rank, now[rank], more)
    return Trace.of(events, K, "virtual")


def computed(dice: Random, events: list[Event], rank: int, begin: float, seconds: float) -> float:
    """One to five operations, and when the last of them ends."""
    cuts = sorted([0.0, 1.0, *(dice.random() for _ in range(dice.randrange(5)))])
    ends = [begin + seconds * cut for cut in cuts]
    events += [Event(rank, "compute", a, b, name="mm", flops=int(1e12 * (b - a))) for a, b in pairwise(ends) if b > a]
    return ends[-1]
