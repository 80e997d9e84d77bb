"""PipeDream: 1F1B that never flushes. Each backward pass is followed by an update, while later batches are in flight.

    stage 0   F0 F1 F2 .. .. B0 F3 B1 .. B2 .. B3        p = 3, m = 4; with more it goes on: F4 B2 F5 B3 F6 ...
    stage 1   .. F0 F1 .. B0 F2 B1 F3 B2 .. B3 ..
    stage 2   .. .. F0 B0 F1 B1 F2 B2 F3 B3 .. ..

A "micro-batch" is a whole minibatch here: each has its own update, right after its B. In an endless row of them the
only bubble is the first one.

The price: on stage s, p - s - 1 updates come between the forward and the backward pass of a minibatch. With *weight
stashing* the stage keeps the weights of each forward pass until its backward pass: p - s versions. Then the gradient is
correct, but at weights that are p - s - 1 updates old. Without stashing it is not the gradient of any function.

Source: Narayanan et al., "PipeDream: Generalized Pipeline Parallelism for DNN Training", SOSP 2019 (Harlap et al.,
arXiv:1806.03377), sections 3.2 and 3.3.
"""

from __future__ import annotations

from lockstep.pipeline.instructions import Backward, Step, Stream, Update
from lockstep.pipeline.schedules.one_f_one_b import one_f_one_b


def pipedream(stage: int, stages: int, micro_batches: int) -> Stream:
    """The order of one stage, updates included."""
    order = list[Step]()
    for step in one_f_one_b(stage, stages, micro_batches)[:-1]:
        order += [step, Update()] if isinstance(step, Backward) else [step]
    return order
