"""Which layers to wrap into one FSDP unit: few large units take memory, many small ones take latency.

    K       ranks; 4 bytes a number
    n_u     numbers of unit u's shard: ceil(N_u/K) for a unit of N_u numbers
    c_u     seconds of unit u's forward pass; its backward pass takes twice as long
    g_u     seconds to gather it, and as long to reduce-scatter its gradient: alpha + 4·(K-1)·n_u·beta

    forward     link      │ g_0 │   g_1   │ g_2 │              u + 1 is gathered while u computes
                compute         │ c_0 │   │ c_1 │ c_2 │
    backward    link                  │ g_1 │ g_0 + g_2 │ g_1 │ g_0 │     u - 1 is gathered while u computes, and the
                compute               │2 c_2│   2 c_1   │2 c_0│           gradient of u + 1 is reduce-scattered

    forward  = g_0 + sum of max(c_u, g_{u+1}) + c_last
    backward = sum of max(2 c_u, g_{u-1} + g_{u+1}) + g_0      the last unit is still gathered
    bytes    = 16·ceil(N/K) + 4·K·(n_u + n_{u+1}) for the largest u: parameters, gradients and Adam's state in shards,
               and two units gathered

A model of FSDP (Zhao et al., arXiv:2304.11277, sections 3.2 and 3.3): whole gradients and activations are left out.
The best units are found by dynamic programming over pairs of neighbours: what follows a pair does not depend on what
came before it. L layers have 2^(L-1) choices, and L³/6 such pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from lockstep.cost.sharding import FLOAT32, shard
from lockstep.errors import UsageError

STATES = 16  # bytes for each parameter of a shard: itself, its gradient, Adam's two

Unit = tuple[int, int]  # its layers: from the first number up to, not including, the second
Chosen = tuple[float, tuple[Unit, ...]]
NONE: Chosen = (math.inf, ())


class Model(NamedTuple):
    """The layers, as cumulative sums of their numbers and seconds; the memory of a rank in bytes; the link."""

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
        """Seconds to gather a unit; 0 for None."""
        return self.alpha + FLOAT32 * (self.ranks - 1) * self.shard(u) * self.beta if u else 0.0

    def fits(self, *whole: Unit) -> bool:
        return self.bytes(*whole) <= self.memory

    def bytes(self, *whole: Unit) -> int:
        """Bytes on a rank while the units ``whole`` are gathered."""
        return STATES * shard(self.numbers[-1], self.ranks) + FLOAT32 * self.ranks * sum(map(self.shard, whole))

    def while_computing(self, before: Unit | None, u: Unit, after: Unit | None) -> float:
        """Seconds of the forward and the backward pass through ``u``, each at least as long as the communication that
        it overlaps with."""
        forward = max(self.compute(u), self.gather(after))
        return forward + max(2 * self.compute(u), self.gather(before) + self.gather(after))


def step_seconds(model: Model, units: Sequence[Unit]) -> float:
    """Seconds of a step."""
    around = [None, *units, None]
    through = (model.while_computing(*three) for three in zip(around, units, around[2:], strict=False))
    return 2 * model.gather(units[0]) + sum(through)


def forward_seconds(model: Model, units: Sequence[Unit]) -> float:
    """Of these, those of the forward pass."""
    after = [*units[1:], None]
    return model.gather(units[0]) + sum(
        max(model.compute(u), model.gather(v)) for u, v in zip(units, after, strict=True)
    )


def most_bytes(model: Model, units: Sequence[Unit]) -> int:
    """Bytes on a rank at the peak of a step."""
    return max(model.bytes(*whole) for whole in (pairwise(units) if len(units) > 1 else [units]))


def best_units(model: Model) -> list[Unit]:
    """The units with the shortest step among those that fit into memory. Raises UsageError if none fit."""

    @cache
    def rest(before: Unit | None, u: Unit) -> Chosen:
        """(seconds from the computation of ``u`` on, the units from ``u`` on) of the best choice."""
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
    """The layers of each unit, in order, with the shortest step that fits into ``memory`` bytes a rank.

    ``sizes``: numbers of each layer; ``seconds``: of its forward pass. Raises UsageError if nothing fits."""
    model = Model.of(sizes, memory, ranks, alpha, beta, seconds)
    return [list(range(*unit)) for unit in best_units(model)]
