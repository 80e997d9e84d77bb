"""Five steps under three roofs: what each computes, moves through its device's memory and sends, and which of the three
takes longest.

The roofline model (Williams, Waterman and Patterson, 2009) with a third roof, the network: the three overlap perfectly,
so that the longest is the time of a step. Weights and gradients have 2 bytes, what Adam keeps has 4.

    step            FLOPs    bytes through memory                               bytes sent
    prefill         2NT      the weights                                        -
    decode          2NT      the weights, and each sequence's keys and values   -
    data parallel   6NT      the weights twice, and the gradients               a ring's all-reduce of the gradients
    fully sharded   6NT      the same                                           two all-gathers and a reduce-scatter
    optimizer       12N      a gradient, three float32 in and out, a weight     -

N: parameters; T: tokens on each device, or sequences.
"""

from __future__ import annotations

from typing import NamedTuple

HALF, SINGLE = 2, 4  # bytes
ROOFS = "compute", "memory", "network"


class Work(NamedTuple):
    """What a step does on one device: FLOPs, bytes through its memory, bytes that it sends."""

    flops: float
    moved: float
    sent: float


def works(N: int, T: int, K: int, cache: int) -> dict[str, Work]:
    """The work of the five steps, by name. ``K``: devices; ``cache``: bytes of one sequence's keys and values."""
    weights = gradients = HALF * N
    others = (K - 1) / K  # what a device has not
    adam = gradients + 2 * 3 * SINGLE * N + weights
    return {
        "prefill": Work(2 * N * T, weights, 0),
        "decode": Work(2 * N * T, weights + cache * T, 0),
        "data parallel": Work(6 * N * T, 2 * weights + gradients, 2 * others * gradients),
        "fully sharded": Work(6 * N * T, 2 * weights + gradients, others * (2 * weights + gradients)),
        "optimizer": Work(12 * N, adam, 0),
    }


def five_steps_on_three_roofs(
    N: int, T: int, K: int, cache: int, peak: float, memory: float, network: float
) -> dict[str, tuple[float, str]]:
    """For each of the five steps (seconds, the roof that it hits). ``peak``: FLOP/s; ``memory`` and ``network``:
    bytes/s of a device."""
    found = {}
    for name, work in works(N, T, K, cache).items():
        times = [work.flops / peak, work.moved / memory, work.sent / network]
        found[name] = max(times), ROOFS[times.index(max(times))]
    return found
