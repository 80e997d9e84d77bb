# mypy: disable-error-code="untyped-decorator"
"""A sum with k accumulators, for any k: instruction-level parallelism alone, without SIMD.

Floating-point additions keep the order written, so the compiler may not vectorise them: what gets faster with k does so
because additions overlap. Each accumulator is a variable of its own, since an array of accumulators would be in memory;
so the source code is generated for each k.

    def sum_4(x, turns):                x is (n, 4)
        s0 = s1 = s2 = s3 = 0.0
        for _ in range(turns):
            for i in range(x.shape[0]):
                s0 += x[i, 0]
                ...
        return s0 + s1 + s2 + s3

The limit: an addition takes 2 to 4 cycles (its latency), and a core begins 2 or more in each cycle (its ports). So
latency x ports accumulators keep it busy, and more gain nothing. (Fog, Instruction tables, has both for each core.)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba import njit

from lockstep.this_machine.measure import best_time

ELEMENTS, TURNS = 1920, 100


def source(k: int) -> str:
    """The source code for ``k`` accumulators."""
    names = [f"s{j}" for j in range(k)]
    lines = [
        f"def sum_{k}(x, turns):",
        f"    {' = '.join(names)} = 0.0",
        "    for _ in range(turns):",
        "        for i in range(x.shape[0]):",
        *(f"            {name} += x[i, {j}]" for j, name in enumerate(names)),
        f"    return {' + '.join(names)}",
    ]
    return "\n".join(lines) + "\n"


def with_accumulators(k: int) -> Callable[[Any, int], float]:
    """The compiled function: the sum of all elements of an array (n, ``k``), float64, repeated ``turns`` times."""
    written: dict[str, Any] = {}
    exec(source(k), written)
    compiled: Callable[[Any, int], float] = njit(written[f"sum_{k}"])
    return compiled


def addition_seconds(k: int = 1) -> float:
    """Seconds of an addition in the sum with ``k`` accumulators; with one, each waits for the one before."""
    kernel, table = with_accumulators(k), np.ones((ELEMENTS // k, k))
    return best_time(partial(kernel, table, TURNS), 0.05) / TURNS / table.size
