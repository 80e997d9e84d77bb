"""A trace in words of training: what a rank computes is the forward pass, the backward pass or the update of a layer,
for a micro-batch.

``events.Memory.spans`` says when each began; it comes from hooks of modules, autograd and optimizers. A program
without a module has no spans, and its operations are shown.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from operator import attrgetter

from lockstep.events import Event, Outcome, Span, Trace

NAMES = ("forward", "backward", "update")


def phased(run: Outcome) -> Trace:
    """The trace of ``run``: the kind of a computation is its pass, its name the layer and the micro-batch. It is cut
    where the next one begins."""
    if run.trace.world != "virtual" or not any(memory.spans for memory in run.memory):
        return run.trace
    marks = [[*memory.spans, Span(float("inf"), "")] for memory in run.memory]
    events = [part for e in run.trace for part in _parts(e, marks[e.rank])]
    return Trace.of(events, run.trace.ranks, run.trace.world, run.trace.cluster, run.trace.unequal)


def _parts(e: Event, marks: list[Span]) -> Iterator[Event]:
    if e.kind != "compute" or e.end <= marks[0].seconds:
        yield e
        return
    if e.start < marks[0].seconds:
        yield e._replace(end=marks[0].seconds)
    first = max(0, bisect_right(marks, e.start, key=attrgetter("seconds")) - 1)
    for span, after in pairwise(marks[first:]):
        if span.seconds >= e.end:
            return
        start, stop = max(e.start, span.seconds), min(e.end, after.seconds)
        if stop > start:
            yield e._replace(kind=span.phase, name=told(span), start=start, end=stop)


def told(span: Span) -> str:
    """``layer 2, micro-batch 1``; "" where no module is at work."""
    number = [] if span.micro_batch is None else [f"micro-batch {span.micro_batch}"]
    return ", ".join([span.layer, *number] if span.layer else number)
