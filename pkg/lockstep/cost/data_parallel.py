"""The time of a data-parallel step: an all-reduce hidden behind the backward pass, or parameter servers.

    b       examples of a rank in a step (the batch of all ranks is K·b)
    F       FLOP of the backward pass, for one example
    R       FLOP/s at which a rank computes it
    n       bytes of all gradients, and of all parameters
    K       ranks, or workers
    α, β    seconds a message, seconds a byte

**All-reduce.** When does it cost no time? When the backward pass hides it:

    backward pass          b·F / R                                     grows with the batch
    ring all-reduce        2(K-1)·α + 2(K-1)/K·n·β                     does not
    hidden if              b ≥ (R / F)·(2(K-1)·α + 2(K-1)/K·n·β)

That is the limit: while a gradient travels, others must still be computed. So gradients go in *buckets*, last layers
first, each as soon as its last gradient is ready. Buckets follow one another, because all of them need the same ports:

    computed       ├ layer 3 ┤├ layer 2 ┤├ layer 1 ┤
    all-reduces               ├─ bucket 3 ─┤├─ bucket 2 ─┤├─ bucket 1 ─┤      the step ends here

Small buckets pay 2(K-1)·α often; large ones start late, and nothing hides the last one.

**Parameter servers.** S of them have n/S bytes each, and one port in and one port out, which all messages go through. A
worker fetches w, computes for c seconds, and sends its gradient. Alone it takes c + 2(S·α + n·β), since its own port
carries all n bytes, too. A server receives gradients on one port and sends w on the other, both at once, so that each
worker keeps it busy for α + n/S·β, and all of them for K times that:

    asynchronous     max( c + 2(S·α + n·β),  K(α + n/S·β) )          seconds in which each worker does one step
    all-reduce       c + the all-reduce, about 2(K-1)/K·n·β          does not grow with K, except for α

The server is *saturated* from K = (c + 2(S·α + n·β)) / (α + n/S·β) workers on: more of them make nothing faster.

Sources: Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", VLDB 2020, section 3.2;
M. Li et al., "Communication Efficient Distributed Machine Learning with the Parameter Server", NIPS 2014. Ports are
those of ``cost.algorithms``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate

from lockstep.cost.algorithms import ring_all_reduce
from lockstep.cost.collectives import collective_time
from lockstep.errors import UsageError
from lockstep.machines import Cluster

ROUNDING = 1e-12  # of the all-reduce: a pass that is shorter by less counts as equally long

Gradient = tuple[float, int]  # (seconds from the beginning of the backward pass until it is ready, bytes)


def all_reduce_seconds(nbytes: int, ranks: int, alpha: float, beta: float) -> float:
    """Seconds of the ring all-reduce of ``nbytes``, which all ranks begin at the same time."""
    return ring_all_reduce(nbytes, ranks, alpha, beta).seconds


def smallest_batch_that_hides(flops: float, nbytes: int, ranks: int, alpha: float, beta: float, rate: float) -> int:
    """The fewest examples of a rank, at least 1, whose backward pass lasts as long as the ring all-reduce.

    ``flops``: of the backward pass for one example; ``rate``: FLOP/s of a rank; ``nbytes``: of all gradients. A pass
    that lasts exactly as long hides the all-reduce. Raises UsageError unless FLOP and rate are above 0.
    """
    if min(flops, rate) <= 0:
        raise UsageError(f"An example takes some FLOP and a rank does some a second: not {flops} and {rate}.")
    examples = all_reduce_seconds(nbytes, ranks, alpha, beta) * rate / flops
    return max(1, math.ceil(examples * (1 - ROUNDING)))


def bucket_plan(gradients: Sequence[Gradient], bucket_bytes: float) -> list[Gradient]:
    """The buckets as (seconds at which it is ready, bytes). ``gradients``: those of the last layer first.

    A bucket is full with the gradient that brings it to ``bucket_bytes`` or more; the last one holds the rest."""
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
    """Seconds from the beginning of the backward pass to the end of the last all-reduce; they run one after another."""
    end = 0.0
    for ready, nbytes in bucket_plan(gradients, bucket_bytes):
        end = max(end, ready) + all_reduce_seconds(nbytes, ranks, alpha, beta)
    return end


def best_bucket_bytes(gradients: Sequence[Gradient], ranks: int, alpha: float, beta: float) -> int:
    """The bucket size with the shortest step; among equals the largest, which needs the fewest all-reduces.

    Only sums of consecutive gradients are tried: a size between two such sums makes the same buckets."""
    if not any(nbytes for _, nbytes in gradients):
        raise UsageError("Without gradients there is nothing to put into buckets.", "Give a pair for each layer.")
    sizes = sorted(set(_sums([nbytes for _, nbytes in gradients])), reverse=True)
    return min(sizes, key=lambda size: step_seconds(gradients, size, ranks, alpha, beta))


def _sums(nbytes: Sequence[int]) -> Iterator[int]:
    for first in range(len(nbytes)):
        yield from (total for total in accumulate(nbytes[first:]) if total > 0)


# ---- parameter servers


def served_seconds(workers: int, servers: int, nbytes: float, compute: float, alpha: float, beta: float) -> float:
    """Seconds in which each worker does one asynchronous step, in the steady state."""
    alone = _alone(servers, nbytes, compute, alpha, beta)
    return max(alone, workers * server_seconds(servers, nbytes, alpha, beta))


def server_seconds(servers: int, nbytes: float, alpha: float, beta: float) -> float:
    """Seconds for which one step of one worker keeps each server's ports busy: its gradient in, w out."""
    if servers < 1:
        raise UsageError(f"Somebody has to serve: {servers} servers cannot.")
    return alpha + nbytes / servers * beta


def saturated_from(servers: int, nbytes: float, compute: float, alpha: float, beta: float) -> int:
    """The number of workers from which on the servers are saturated: their ports are always busy."""
    return math.ceil(_alone(servers, nbytes, compute, alpha, beta) / server_seconds(servers, nbytes, alpha, beta))


def all_reduce_step_seconds(workers: int, nbytes: int, compute: float, cluster: Cluster) -> float:
    """Seconds of a synchronous step: all workers compute, and then all-reduce their gradients."""
    return compute + collective_time("all_reduce", nbytes, range(workers), cluster)


def _alone(servers: int, nbytes: float, compute: float, alpha: float, beta: float) -> float:
    """Seconds of a step of a worker that never has to wait."""
    return compute + 2 * (servers * alpha + nbytes * beta)
