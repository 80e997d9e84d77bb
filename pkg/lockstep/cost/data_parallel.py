"""When does the all-reduce of data parallelism cost no time? When the backward pass hides it.

    b       examples of a rank in a step (the batch of all ranks is K·b)
    F       FLOP of the backward pass, for one example
    R       FLOP/s at which a rank computes it
    n       bytes of all gradients
    K       ranks
    α, β    seconds a message, seconds a byte

    backward pass          b·F / R                                     grows with the batch
    ring all-reduce        2(K-1)·α + 2(K-1)/K·n·β                     does not
    hidden if              b ≥ (R / F)·(2(K-1)·α + 2(K-1)/K·n·β)

That is the limit: while a gradient travels, others must still be computed. So gradients go in *buckets*, last layers
first, each as soon as its last gradient is ready. Buckets follow one another, because all of them want the same ports:

    computed       ├ layer 3 ┤├ layer 2 ┤├ layer 1 ┤
    all-reduces               ├─ bucket 3 ─┤├─ bucket 2 ─┤├─ bucket 1 ─┤      the step ends here

Small buckets pay 2(K-1)·α often; large ones start late, and nothing hides the last one.
Source: Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", VLDB 2020, section 3.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate

from lockstep.cost.algorithms import ring_all_reduce
from lockstep.errors import UsageError

ROUNDING = 1e-12  # of the all-reduce: a pass that is shorter by less is as long, since only rounding makes it shorter

Gradient = tuple[float, int]  # seconds since the backward pass began at which it is ready, bytes


def all_reduce_seconds(nbytes: int, ranks: int, alpha: float, beta: float) -> float:
    """Seconds of the ring all-reduce of ``nbytes``, which all ranks begin at once."""
    return ring_all_reduce(nbytes, ranks, alpha, beta).seconds


def smallest_batch_that_hides(flops: float, nbytes: int, ranks: int, alpha: float, beta: float, rate: float) -> int:
    """The fewest examples of a rank, at least 1, whose backward pass lasts as long as the ring all-reduce.

    ``flops`` are those of the backward pass for one example, ``rate`` is in FLOP/s, ``nbytes`` are those of all
    gradients. A pass that lasts exactly as long hides the all-reduce. Raises UsageError.
    """
    if min(flops, rate) <= 0:
        raise UsageError(f"An example takes some FLOP and a rank does some a second: not {flops} and {rate}.")
    examples = all_reduce_seconds(nbytes, ranks, alpha, beta) * rate / flops
    return max(1, math.ceil(examples * (1 - ROUNDING)))


def bucket_plan(gradients: Sequence[Gradient], bucket_bytes: float) -> list[Gradient]:
    """The buckets, each as (seconds when it is ready, bytes). ``gradients``: the last layer's first.

    A bucket is closed by the gradient with which it holds ``bucket_bytes`` or more; the last one holds what is left."""
    if bucket_bytes < 1:
        raise UsageError(f"A bucket holds at least 1 byte, not {bucket_bytes}.")
    buckets, held = list[Gradient](), 0
    for n, (ready, nbytes) in enumerate(gradients, start=1):
        held += nbytes
        if held >= bucket_bytes or n == len(gradients):
            buckets.append((ready, held))
            held = 0
    return buckets


def step_seconds(gradients: Sequence[Gradient], bucket_bytes: float, ranks: int, alpha: float, beta: float) -> float:
    """Seconds from the beginning of the backward pass to the end of the last all-reduce, one after another."""
    end = 0.0
    for ready, nbytes in bucket_plan(gradients, bucket_bytes):
        end = max(end, ready) + all_reduce_seconds(nbytes, ranks, alpha, beta)
    return end


def best_bucket_bytes(gradients: Sequence[Gradient], ranks: int, alpha: float, beta: float) -> int:
    """The size with which the step ends first; of equals the largest, which makes the fewest all-reduces.

    Sizes between two sums of gradients that follow one another make the same buckets, so only these sums are tried."""
    if not any(nbytes for _, nbytes in gradients):
        raise UsageError("Without gradients there is nothing to put into buckets.", "Give a pair for each layer.")
    sizes = sorted(set(_sums([nbytes for _, nbytes in gradients])), reverse=True)
    return min(sizes, key=lambda size: step_seconds(gradients, size, ranks, alpha, beta))


def _sums(nbytes: Sequence[int]) -> Iterator[int]:
    for first in range(len(nbytes)):
        yield from (total for total in accumulate(nbytes[first:]) if total > 0)
