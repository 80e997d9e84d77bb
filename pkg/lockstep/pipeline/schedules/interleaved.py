"""Interleaved 1F1B: each stage has v chunks of the model, and each micro-batch passes through the stages v times.

    p = 2, v = 2: stage 0 has places 0 and 2 of the model, stage 1 has 1 and 3

The pipeline is full as soon as p *chunks* are computed, each 1/v as long as a stage: idle (p-1)/v forward and backward
passes instead of p - 1. The price is v times the messages, and more activations stored.

Micro-batches go in groups of p: the group through chunk 0, the same group through chunk 1, ... So the k-th forward pass
of every stage is of

    chunk         k mod (p·v) // p
    micro-batch   k // (p·v) · p + k mod p

and the k-th backward pass likewise, with the last chunk first. m has to be a multiple of p.

(1) warm-up: 2(p - s - 1) + (v - 1)·p forward passes, one per tick
(2) steady: one forward and one backward pass per tick
(3) cool-down: backward passes

Messages are sent after a tick, not after each pass: those of its two passes together, as in Megatron. If they were
exchanged after each single pass, the ranks would wait for each other in a cycle.

Source: Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", SC 2021,
arXiv:2104.04473, section 2.2 and Figure 4.
"""

from __future__ import annotations

from lockstep.errors import UsageError
from lockstep.pipeline.instructions import Backward, Forward, Step, Stream, Update


def interleaved(stage: int, stages: int, micro_batches: int, chunks: int) -> Stream:
    """The order of one stage. Raises UsageError if there are several chunks and p does not divide the micro-batches."""
    return [step for tick in ticks(stage, stages, micro_batches, chunks) for step in tick]


def ticks(stage: int, stages: int, micro_batches: int, chunks: int) -> list[list[Step]]:
    """The same, split into ticks: messages are exchanged between them."""
    p, v, m = stages, chunks, micro_batches
    if v > 1 and m % p:
        raise UsageError(
            f"Interleaving sends micro-batches round in groups of {p}, and {m} is no multiple of {p}.",
            f"Choose {m // p * p + p} micro-batches, say, or one chunk.",
        )

    def forward(k: int) -> Step:
        return Forward(k // (p * v) * p + k % p, k % (p * v) // p)

    def backward(k: int) -> Step:
        return Backward(k // (p * v) * p + k % p, v - 1 - k % (p * v) // p)

    total = m * v
    warm = min(2 * (p - stage - 1) + (v - 1) * p if v > 1 else p - stage - 1, total)
    steady = [[forward(k), backward(k - warm)] for k in range(warm, total)]  # (2)
    if v == 1:  # neighbours alternate: one goes forward while the other goes backward
        steady = [[step] for tick in steady for step in tick]
    fill = [[forward(k)] for k in range(warm)]  # (1)
    drain = [[backward(k)] for k in range(total - warm, total)]  # (3)
    return [*fill, *steady, *drain, [Update()]]
