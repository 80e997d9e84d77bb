"""Model parallelism without a pipeline: a micro-batch goes forward and backward through all stages, then the next.

    stage 0   F0 .. .. .. .. B0 F1 .. .. .. .. B1        p = 3, m = 2
    stage 1   .. F0 .. .. B0 .. .. F1 .. .. B1 ..
    stage 2   .. .. F0 B0 .. .. .. .. F1 B1 .. ..

One stage works while p - 1 wait: p devices are as fast as one, minus the cost of the messages. The only cause is each
stage's order. Stage 0 could go on with F1 while it waits; that is all that the other schedules change.
"""

from __future__ import annotations

from lockstep.pipeline.instructions import Backward, Forward, Stream, Update


def naive(stage: int, stages: int, micro_batches: int) -> Stream:
    """The order, the same for every stage."""
    order: Stream = [step for i in range(micro_batches) for step in (Forward(i), Backward(i))]
    return [*order, Update()]
