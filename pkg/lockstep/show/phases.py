"""A trace in words of training: what a rank computes is its forward pass, its backward pass or its update.

``events.Memory.phases`` says when each began; it comes from hooks of modules, autograd and optimizers. A program
without a module has no phases, and its operations are shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from lockstep.events import Event, Outcome, Trace

NAMES = ("forward", "backward", "update")


def phased(run: Outcome) -> Trace:
    """The trace of ``run``; a computation in a phase has its name as its kind, and is cut where the next one begins."""
    if run.trace.world != "virtual" or not any(memory.phases for memory in run.memory):
        return run.trace
    marks = [[*memory.phases, (float("inf"), "")] for memory in run.memory]
    events = [part for e in run.trace for part in _parts(e, marks[e.rank])]
    return Trace.of(events, run.trace.ranks, run.trace.world, run.trace.cluster, run.trace.unequal)


def _parts(e: Event, marks: list[tuple[float, str]]) -> Iterator[Event]:
    if e.kind != "compute" or (e.start < marks[0][0] and e.end <= marks[0][0]):
        yield e
        return
    if e.start < marks[0][0]:
        yield e._replace(end=marks[0][0])
    for (begin, name), (end, _) in pairwise(marks):
        start, stop = max(e.start, begin), min(e.end, end)
        if stop > start:
            yield e._replace(kind=name, start=start, end=stop)
