"""Do the messages of a step travel at the same time? Read from a trace, whatever the time: by the order of each rank.

A rank that has posted all its sends of a step, or all its receives, before it waits for the first time makes no rank
wait for what goes on between two others. One that goes from neighbour to neighbour does: with blocking calls,
or with a wait after each pair of isend and irecv.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from lockstep.events import POINT_TO_POINT, Event, Trace


def early_waits(trace: Trace, steps: int = 1) -> int:
    """Ranks that, in some of so many equal steps, wait for a message before they have posted all they send, or all they
    receive."""
    return sum(_waits_early(trace.of_rank(rank), steps) for rank in range(trace.ranks))


def _waits_early(events: Sequence[Event], steps: int) -> bool:
    by_kind = [[e for e in events if e.kind == kind and e.nbytes] for kind in POINT_TO_POINT]
    for n in range(steps):
        parts = [own[n * len(own) // steps : (n + 1) * len(own) // steps] for own in by_kind]
        first = min((e.end for part in parts for e in part if e.wait > 0), default=math.inf)
        if all(any(e.posted >= first for e in part) for part in parts):
            return True
    return False
