"""Backward passes whose gradients go in buckets, drawn so that no shortcut finds a good size for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import accumulate, count
from random import Random

from lockstep.cost.data_parallel import Gradient, all_reduce_seconds, best_bucket_bytes, step_seconds

Pass = tuple[list[Gradient], int, float, float]  # gradients, last layer first; ranks, alpha, beta

LINKS = ((25e-6, 8e-10), (14e-6, 1.6e-10), (3.4e-6, 1 / 150e9))  # alpha and beta: Ethernet, InfiniBand, NVLink

# Sizes that may be tried in place of all, by the sizes of the gradients.
SHORTCUTS: tuple[Callable[[Sequence[int]], Iterable[int]], ...] = (
    lambda sizes: [sum(sizes)],  # one bucket
    lambda sizes: [1],  # a bucket for each gradient
    lambda sizes: sizes,
    lambda sizes: accumulate(sizes),  # the first bucket's only
    lambda sizes: [2**n for n in range(40)],
    lambda sizes: [sum(sizes) * n // 10 + 1 for n in range(10)],
)


@cache
def passes(seed: int) -> list[Pass]:
    """For each shortcut one on which it ends 4 % late; sizes that are 5 % apart do well on all."""
    dice = Random(seed)
    drawn = (backward_pass(dice) for _ in count())
    return [next(p for p in drawn if late(p, short) > 1.04 and late(p, fine) < 1.01) for short in SHORTCUTS]


def backward_pass(dice: Random, layers: int = 16) -> Pass:
    """All alphas of a bucket for each gradient take 0.3 to 2.5 times as long as all bytes do."""
    (alpha, beta), K = dice.choice(LINKS), dice.choice((2, 3, 4, 8, 16, 64))
    total = layers * K * alpha / beta / dice.uniform(0.3, 2.5)
    sizes = [4 * (1 + int(total * share / 4)) for share in shares(dice, layers, 1.0)]
    lasts = all_reduce_seconds(sum(sizes), K, alpha, beta) * dice.uniform(0.5, 2)
    ready = accumulate(lasts * share for share in shares(dice, layers, 0.7))
    return list(zip(ready, sizes, strict=True)), K, alpha, beta


def shares(dice: Random, number: int, spread: float) -> list[float]:
    """Of a whole, unequal by ``spread`` powers of ten up and down."""
    drawn = [10 ** dice.uniform(-spread, spread) for _ in range(number)]
    return [share / sum(drawn) for share in drawn]


def fine(sizes: Sequence[int]) -> list[int]:
    return [int(1.05**n) for n in range(600)]


def late(one: Pass, tried: Callable[[Sequence[int]], Iterable[int]]) -> float:
    """How many times as long the step takes with the best of the sizes that are tried."""
    gradients, K, alpha, beta = one
    best, *ends = (
        step_seconds(gradients, size, K, alpha, beta)
        for size in (best_bucket_bytes(gradients, K, alpha, beta), *tried([n for _, n in gradients]))
    )
    return min(ends) / best
