"""ZB-H1, a zero-bubble schedule: the backward pass is split in two, and only the first half is urgent.

    B    gradient of the input: the previous stage waits for it
    W    gradients of the weights: needed only for the update

    stage 0   F0 F1 F2 .. .. D0 W0 F3 D1 W1 D2 W2 D3 W3        p = 3, m = 4; D is B here
    stage 1   .. F0 F1 .. D0 F2 D1 W0 F3 D2 W1 D3 W2 W3
    stage 2   .. .. F0 D0 F1 D1 F2 D2 W0 F3 D3 W1 W2 W3

1F1B, with B instead of the whole backward pass; W runs when nothing more urgent can:

(1) warm-up as in 1F1B
(2) steady: F, B, and from the s-th B on a W, for the micro-batch s earlier
(3) cool-down: B and W alternate, so that W fills the time in which 1F1B is idle
(4) the remaining W

Stage s has s B whose W are pending: with the p - s micro-batches of 1F1B, that makes p on every stage. So the stage
that stores most in 1F1B, the first one, stores no more than there. Idle for (p-1)·(F + B - W), where 1F1B is idle for
(p-1)·(F + B + W): a third of it, if the three take equally long.

Source: Qi et al., "Zero Bubble Pipeline Parallelism", ICLR 2024, arXiv:2401.10241, section 2.1 and Figure 2.
"""

from __future__ import annotations

from lockstep.pipeline.instructions import BackwardInput, BackwardWeights, Forward, Step, Stream, Update


def zb_h1(stage: int, stages: int, micro_batches: int) -> Stream:
    """The order of one stage."""
    m, warm = micro_batches, min(stages - stage - 1, micro_batches)
    order: list[Step] = [Forward(i) for i in range(warm)]  # (1)
    done = 0  # W so far
    for i in range(m):
        if warm + i < m:
            order.append(Forward(warm + i))  # (2)
        order.append(BackwardInput(i))
        if i >= stage:  # (2) (3)
            order.append(BackwardWeights(done))
            done += 1
    order += [BackwardWeights(i) for i in range(done, m)]  # (4)
    return [*order, Update()]
