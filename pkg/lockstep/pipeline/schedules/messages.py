"""From an order of computations to a stream: the messages that a stage needs follow from what it computes.

Between two ticks the stage communicates: it sends the results of the previous tick, and receives what the next one
needs. These messages are adjacent in the stream, and the worker posts them as one batch. Without that, 1F1B deadlocks:

    stage 0    F1   send F1's output, receive B0's gradient    B0
    stage 1    B0   send B0's gradient, receive F1's input     F1        one batch each, or both wait to be received

A single stage has all chunks and sends nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from lockstep.pipeline.instructions import (
    BACKWARDS,
    Forward,
    ReceiveActivation,
    ReceiveGradient,
    SendActivation,
    SendGradient,
    Step,
    Stream,
    place,
)


def with_messages(ticks: Sequence[Sequence[Step]], stage: int, stages: int, chunks: int = 1) -> Stream:
    """The stream of a stage whose computations are ``ticks``; there are no messages within a tick."""
    last = stages * chunks - 1
    stream = list[Step]()
    if stages == 1:
        return [step for tick in ticks for step in tick]
    for before, after in pairwise([(), *ticks, ()]):
        stream += before
        stream += [message for step in before for message in given(step, stage, stages, last)]
        stream += [message for step in after for message in needed(step, stage, stages, last)]
    return stream


def given(step: Step, stage: int, stages: int, last: int) -> Iterator[Step]:
    """The messages to send when ``step`` is done. ``last``: the place that computes the loss."""
    if isinstance(step, Forward) and place(step.chunk, stage, stages) < last:
        yield SendActivation(step.micro_batch, step.chunk)
    if isinstance(step, BACKWARDS) and place(step.chunk, stage, stages) > 0:
        yield SendGradient(step.micro_batch, step.chunk)


def needed(step: Step, stage: int, stages: int, last: int) -> Iterator[Step]:
    """The messages to receive before ``step`` can begin."""
    if isinstance(step, Forward) and place(step.chunk, stage, stages) > 0:
        yield ReceiveActivation(step.micro_batch, step.chunk)
    if isinstance(step, BACKWARDS) and place(step.chunk, stage, stages) < last:
        yield ReceiveGradient(step.micro_batch, step.chunk)
