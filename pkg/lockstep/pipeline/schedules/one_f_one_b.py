"""1F1B with a flush (PipeDream-Flush): backward passes begin as early as possible, and alternate with forward passes.

    stage 0   F0 F1 F2 .. .. B0 F3 B1 .. B2 .. B3        p = 3, m = 4
    stage 1   .. F0 F1 .. B0 F2 B1 F3 B2 .. B3 ..
    stage 2   .. .. F0 B0 F1 B1 F2 B2 F3 B3 .. ..

(1) warm-up: p - s - 1 forward passes on stage s, as many as there are stages after it
(2) steady: one forward, one backward
(3) cool-down: the remaining backward passes

The bubble is as long as GPipe's. But stage s stores the activations of at most p - s micro-batches, whatever m is. So m
can grow, and the bubble's share of the time shrinks.

Source: Narayanan et al., "Memory-Efficient Pipeline-Parallel DNN Training" (PipeDream-Flush), arXiv:2006.09503, section
3.2; "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", arXiv:2104.04473, section 2.2.
"""

from __future__ import annotations

from lockstep.pipeline.instructions import Backward, Forward, Step, Stream, Update


def one_f_one_b(stage: int, stages: int, micro_batches: int) -> Stream:
    """The order of one stage."""
    m, warm = micro_batches, min(stages - stage - 1, micro_batches)
    order: list[Step] = [Forward(i) for i in range(warm)]  # (1)
    for i in range(warm, m):
        order += [Forward(i), Backward(i - warm)]  # (2)
    order += [Backward(i) for i in range(m - warm, m)]  # (3)
    return [*order, Update()]
