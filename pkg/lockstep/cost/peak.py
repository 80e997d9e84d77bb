"""The most bytes of parameters, gradients and optimizer state that a rank holds during a step of ZeRO.

    N_i, n_i    numbers of layer i, and of its shard: n_i = ceil(N_i/K) for K ranks
    whole       a layer's vector as a rank holds it: N_i numbers at stage 0, else K·n_i, padding too

What is there all the time, and in the backward pass from the last layer to the first:

    stage   all the time              layer by layer
    0       2 whole (Adam) + whole    (1) gradient
    1       2 n_i (Adam) + whole      (1) gradient; and after the backward pass (3) shard, (4) gradient goes
    2       2 n_i (Adam) + whole      (1) gradient, (3) shard, (4) gradient goes
    3       2 n_i (Adam) + n_i        (0) gather, (1) gradient, (2) gathered goes, (3) shard, (4) gradient goes

Numbers are of 4 bytes; Adam keeps two for each that a rank updates, from the first step on. Activations and what is
temporary in an operation come on top. ZeRO's Table 1 (Rajbhandari et al., arXiv:1910.02054) counts what is there all
the time, the gradients of the stages 2 and 3 in shards: what a step holds for a moment is not in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from lockstep.errors import UsageError

FLOAT32 = 4  # bytes
ADAM = 2  # numbers for each parameter


def shard(N: int, K: int) -> int:
    """n, how many numbers of N each of K ranks has: ceil(N/K)."""
    return -(-N // K)


def predict_peak(sizes: Sequence[int], ranks: int, stage: int) -> int:
    """Bytes at the worst moment of a step: ``sizes`` has the numbers N_i of each layer, ``stage`` is 0 to 3."""
    return FLOAT32 * max(accumulate(changes(sizes, ranks, stage), initial=held(sizes, ranks, stage)))


def held(sizes: Sequence[int], ranks: int, stage: int) -> int:
    """Numbers that are there all the time."""
    whole, shards = _whole(sizes, ranks, stage), [shard(N, ranks) for N in sizes]
    parameters = sum(shards if stage == 3 else whole)
    return parameters + ADAM * sum(whole if stage == 0 else shards)


def changes(sizes: Sequence[int], ranks: int, stage: int) -> Iterator[int]:
    """What comes (+) and goes (-) during the backward pass and after it, in numbers."""
    last_first = [(w, shard(N, ranks)) for w, N in zip(_whole(sizes, ranks, stage), sizes, strict=True)][::-1]
    for whole, n in last_first:
        if stage == 3:
            yield whole  # (0)
        yield whole  # (1)
        if stage == 3:
            yield -whole  # (2)
        if stage >= 2:
            yield from (n, -whole)  # (3), (4)
    if stage == 1:
        for whole, n in last_first:
            yield from (n, -whole)  # (3), (4)


def _whole(sizes: Sequence[int], ranks: int, stage: int) -> list[int]:
    if stage not in (0, 1, 2, 3):
        raise UsageError(f"There is no stage {stage!r} of ZeRO.", "Stages are 0 (DDP), 1, 2 and 3.")
    return list(sizes) if stage == 0 else [ranks * shard(N, ranks) for N in sizes]
