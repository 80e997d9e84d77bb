"""GPipe: all forward passes, then all backward passes, the last micro-batch first; one update at the end.

    stage 0   F0 F1 F2 .. .. .. .. B2 B1 B0        p = 3, m = 3
    stage 1   .. F0 F1 F2 .. .. B2 B1 B0 ..
    stage 2   .. .. F0 F1 F2 B2 B1 B0 .. ..

The bubble is (p-1)/(m+p-1) of the time. At the turn, each stage stores the activations of all m micro-batches. With
re-materialisation it stores only their inputs, and repeats each forward pass right before its backward pass.

Source: Huang et al., "GPipe: Easy Scaling with Micro-Batch Pipeline Parallelism", arXiv:1811.06965, section 2.3 and
Figure 2(c).
"""

from __future__ import annotations

from lockstep.pipeline.instructions import Backward, Forward, Recompute, Step, Stream, Update


def gpipe(stage: int, stages: int, micro_batches: int, rematerialise: bool = False) -> Stream:
    """The order, the same for every stage: the messages determine who waits for whom."""
    forward = [Forward(i) for i in range(micro_batches)]
    backward = list[Step]()
    for i in reversed(range(micro_batches)):
        backward += [Recompute(i), Backward(i)] if rematerialise else [Backward(i)]
    return [*forward, *backward, Update()]
