"""Which layers to gather together: few large units take memory, many small ones take latency.

    K       ranks; 4 bytes a number
    n_u     numbers of unit u's shard: ceil(N_u/K) for a unit of N_u numbers
    c_u     seconds that unit u computes in the forward pass; in the backward pass twice as long
    g_u     seconds to gather it, and as long to reduce-scatter its gradient: alpha + 4·(K-1)·n_u·beta

    forward     link      │ g_0 │   g_1   │ g_2 │              u + 1 is gathered while u computes
                compute         │ c_0 │   │ c_1 │ c_2 │
    backward    link                  │ g_1 │ g_0 + g_2 │ g_1 │ g_0 │     u - 1 is gathered while u computes, and the
                compute               │2 c_2│   2 c_1   │2 c_0│           gradient of u + 1 is reduce-scattered

    forward  = g_0 + sum of max(c_u, g_{u+1}) + c_last
    backward = sum of max(2 c_u, g_{u-1} + g_{u+1}) + g_0      the last unit is still whole
    bytes    = 16·ceil(N/K) + 4·K·(n_u + n_{u+1}) at the worst u: parameters, gradients and Adam's state in shards, and
               two units whole

A model of FSDP (Zhao et al., arXiv:2304.11277, sections 3.2 and 3.3): whole gradients and activations are left out.
The best units are found by dynamic programming over two neighbours: what comes after them does not depend on what came
before. L layers have 2^(L-1) choices, and L³/6 such pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from lockstep.cost.peak import FLOAT32, shard
from lockstep.errors import UsageError

STATES = 16  # bytes for each parameter of a shard: itself, its gradient, Adam's two

Unit = tuple[int, int]  # its layers: from the first to before the second
Chosen = tuple[float, tuple[Unit, ...]]
NONE: Chosen = (math.inf, ())


class Model(NamedTuple):
    """The layers by sums up to each of them, and the link."""

    numbers: tuple[int, ...]
    computing: tuple[float, ...]
    memory: float
    ranks: int
    alpha: float
    beta: float

    @classmethod
    def of(
        cls, sizes: Sequence[int], memory: float, ranks: int, alpha: float, beta: float, seconds: Sequence[float]
    ) -> Model:
        if not sizes or len(sizes) != len(seconds):
            raise UsageError(f"There are {len(sizes)} sizes and {len(seconds)} seconds.", "Give both for each layer.")
        sums = tuple(accumulate(sizes, initial=0)), tuple(accumulate(seconds, initial=0.0))
        return cls(*sums, memory, ranks, alpha, beta)

    @property
    def layers(self) -> int:
        return len(self.numbers) - 1

    def shard(self, u: Unit) -> int:
        return shard(self.numbers[u[1]] - self.numbers[u[0]], self.ranks)

    def compute(self, u: Unit) -> float:
        return self.computing[u[1]] - self.computing[u[0]]

    def gather(self, u: Unit | None) -> float:
        """No seconds for no unit."""
        return self.alpha + FLOAT32 * (self.ranks - 1) * self.shard(u) * self.beta if u else 0.0

    def fits(self, *whole: Unit) -> bool:
        return self.bytes(*whole) <= self.memory

    def bytes(self, *whole: Unit) -> int:
        """With these units whole."""
        return STATES * shard(self.numbers[-1], self.ranks) + FLOAT32 * self.ranks * sum(map(self.shard, whole))

    def while_computing(self, before: Unit | None, u: Unit, after: Unit | None) -> float:
        """Seconds of the forward and the backward pass through ``u``, and the wait for what travels meanwhile."""
        forward = max(self.compute(u), self.gather(after))
        return forward + max(2 * self.compute(u), self.gather(before) + self.gather(after))


def step_seconds(model: Model, units: Sequence[Unit]) -> float:
    """How long a step takes."""
    around = [None, *units, None]
    through = (model.while_computing(*three) for three in zip(around, units, around[2:], strict=False))
    return 2 * model.gather(units[0]) + sum(through)


def most_bytes(model: Model, units: Sequence[Unit]) -> int:
    """At the worst moment of a step."""
    return max(model.bytes(*whole) for whole in (pairwise(units) if len(units) > 1 else [units]))


def best_units(model: Model) -> list[Unit]:
    """The units whose step is the shortest of those that fit. Raises UsageError if none fit."""

    @cache
    def rest(before: Unit | None, u: Unit) -> Chosen:
        """Seconds from where ``u`` computes, and the units from there on."""
        if u[1] == model.layers:
            return (model.while_computing(before, u, None), (u,)) if before or model.fits(u) else NONE
        fitting = (v for v in _beginning_at(u[1], model.layers) if model.fits(u, v))
        after = [(model.while_computing(before, u, v) + rest(u, v)[0], (u, *rest(u, v)[1])) for v in fitting]
        return min(after, default=NONE)

    chosen = [(2 * model.gather(u) + rest(None, u)[0], rest(None, u)[1]) for u in _beginning_at(0, model.layers)]
    seconds, units = min(chosen)
    if math.isinf(seconds):
        raise UsageError("No units fit.", "Give more memory, or more ranks.")
    return list(units)


def _beginning_at(first: int, layers: int) -> Iterator[Unit]:
    return ((first, end) for end in range(first + 1, layers + 1))


def choose_units(
    sizes: Sequence[int], memory: float, ranks: int, alpha: float, beta: float, seconds: Sequence[float]
) -> list[list[int]]:
    """The layers of each unit, in order: the step is as short as it can be, and fits into ``memory`` bytes."""
    model = Model.of(sizes, memory, ranks, alpha, beta, seconds)
    return [list(range(*unit)) for unit in best_units(model)]
