"""The dot product in seven programs, from a loop in Python to SIMD: nanoseconds per element on one thread."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import njit
from threadpoolctl import threadpool_limits

from lockstep.cpu.dot import REORDER, dot
from lockstep.experiments.cpu.naive import naive_dot
from lockstep.experiments.cpu.roofs import Roofs, kernel_time, ns_per_element

ELEMENTS = 2048
PYTHON = "Python, lists"


def python_dot(x: Iterable[float], y: Iterable[float]) -> float:
    """The sum of x[i]·y[i], as a loop in Python."""
    total = 0.0
    for a, b in zip(x, y, strict=True):
        total += a * b
    return total


def rungs(n: int = ELEMENTS) -> dict[str, float]:
    """Nanoseconds per element, by program; ``n`` elements fit into the L1 cache. NumPy's time includes the call from
    Python, that of compiled programs does not."""
    x, y = np.ones(n, np.float32), np.ones(n, np.float32)
    lists = x.tolist(), y.tolist()
    with threadpool_limits(1):
        blas = 1e9 * kernel_time(lambda: x @ y, 0.05) / n
    compiled: dict[str, Any] = {
        "compiled, in order": naive_dot,
        "4 accumulators, in order": njit(dot.py_func),
        "one sum, may be regrouped": njit(fastmath=REORDER)(naive_dot.py_func),
        "4 sums, may be regrouped": dot,
    }
    return {
        PYTHON: 1e9 * kernel_time(lambda: python_dot(*lists), 0.05, 5) / n,
        "Python, NumPy arrays": 1e9 * kernel_time(lambda: python_dot(x, y), 0.05, 2) / n,
        "NumPy, x @ y": blas,
        **{name: ns_per_element(kernel, x, y, 0.05) for name, kernel in compiled.items()},
    }


def roof(roofs: Roofs) -> float:
    """The lower bound of nanoseconds per element: 2 operations, or 8 bytes from the fastest cache, whichever is
    longer."""
    return 1e9 * max(2 / roofs.peak, 8 / max(roofs.bandwidths.values()))
