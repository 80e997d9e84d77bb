"""ZB-H1, a look ahead: the backward pass in two halves, of which only the first is urgent.

    B    gradient of the input: the stage before waits for it
    W    gradients of the weights: nobody waits for them before the update

    stage 0   F0 F1 F2 .. .. D0 W0 F3 D1 W1 D2 W2 D3 W3        p = 3, m = 4; D is B here
    stage 1   .. F0 F1 .. D0 F2 D1 W0 F3 D2 W1 D3 W2 W3
    stage 2   .. .. F0 D0 F1 D1 F2 D2 W0 F3 D3 W1 W2 W3

1F1B, with B in place of the whole backward pass; W comes when there is nothing better to do:

(1) warm-up as in 1F1B
(2) steady: F, B, and from the s-th B on a W, for the micro-batch of s ago
(3) cool-down: a B and a W by turns, so that W stands where 1F1B is idle
(4) the W that are left

Stage s has s of its B without their W: together with the p - s micro-batches of 1F1B, that is p on every stage. So the
most loaded stage, the first one, keeps no more than with 1F1B. Idle: (p-1)·(F + B - W), where 1F1B is idle for
(p-1)·(F + B + W): a third, if the three are equally long.

Source: Qi et al., "Zero Bubble Pipeline Parallelism", ICLR 2024, arXiv:2401.10241, section 2.1 and Figure 2.
"""

from __future__ import annotations

from lockstep.pipeline.instructions import BackwardInput, BackwardWeights, Forward, Step, Stream, Update


def zb_h1(stage: int, stages: int, micro_batches: int) -> Stream:
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
