"""When blocking pays: the rates of three matrix products on one thread of this machine, for growing matrices."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from lockstep.cpu.matmul import blocked_matmul
from lockstep.experiments.cpu.naive import matmul_by_rows
from lockstep.tally import counted
from lockstep.this_machine import host

Multiply = Callable[[Any, Any], Any]


def block_width(cache: int) -> int:
    """The largest power of two for which three blocks of that width, in float64, fit into ``cache`` bytes."""
    return 1 << int(math.log2(cache / 8 / 3) / 2)


def gflops(multiply: Multiply, side: int, runs: int = 3) -> float:
    """GFLOP/s of the product of ``side`` x ``side`` matrices, by the clock of this thread: the best of ``runs``."""
    A, times = np.ones((side, side)), []
    multiply(np.ones((8, 8)), np.ones((8, 8)))  # compiled now
    for _ in range(runs):
        begin = time.thread_time()
        multiply(A, A)
        times.append(time.thread_time() - begin)
    return 2e-9 * side**3 / max(min(times), 1e-9)


def rates(sides: Sequence[int]) -> dict[str, dict[int, float]]:
    """GFLOP/s of the product by rows, in blocks for the L2 cache, and by BLAS: name → side → rate."""
    width = block_width(host.caches().get("L2", 2**20))
    ways: dict[str, Multiply] = {
        "by rows": matmul_by_rows,
        "blocked": lambda a, b: blocked_matmul(a, b, width),
        "BLAS": np.matmul,
    }
    with threadpool_limits(1):
        return {name: {n: gflops(way, n) for n in counted(sides, name)} for name, way in ways.items()}
