"""Model parallelism without a pipeline: a micro-batch goes forward through all stages and back, then the next one does.

    stage 0   F0 .. .. .. .. B0 F1 .. .. .. .. B1        p = 3, m = 2
    stage 1   .. F0 .. .. B0 .. .. F1 .. .. B1 ..
    stage 2   .. .. F0 B0 .. .. .. .. F1 B1 .. ..

One stage is at work, p - 1 wait: p devices are as fast as one, less what the messages cost. Nothing in a stage's own
order says so. Stage 0 would go on with F1 if it were told to; that is all that the other schedules do.
"""

from __future__ import annotations

from lockstep.pipeline.instructions import Backward, Forward, Stream, Update


def naive(stage: int, stages: int, micro_batches: int) -> Stream:
    """The same for every stage."""
    order: Stream = [step for i in range(micro_batches) for step in (Forward(i), Backward(i))]
    return [*order, Update()]
