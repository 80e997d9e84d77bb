"""Kernels as points on the roofline of this core: their operations, bytes, and measured seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from lockstep.cpu.dot import dot
from lockstep.experiments.cpu.naive import naive_dot
from lockstep.experiments.cpu.roofs import Roofs, kernel_time, ns_per_element

SMALL, LARGE, SIDE = 2048, 2**24, 512  # elements, elements, rows and columns


def measured_kernels(roofs: Roofs) -> dict[str, tuple[float, float, float, str]]:
    """Name → (operations, bytes, seconds, level of memory in ``roofs``), as ``show.roofline`` takes them: dot products
    in order and fast, on arrays of 8 kB and of 64 MB, and a matrix product by BLAS on one thread, all in float32."""
    near, far = next(iter(roofs.bandwidths)), min(roofs.bandwidths, key=roofs.bandwidths.__getitem__)
    found = {}
    for name, kernel in (("in order", naive_dot), ("fast", dot)):
        for size, n, turns, place in (("8 kB", SMALL, 200, near), ("64 MB", LARGE, 1, far)):
            x, y = np.ones(n, np.float32), np.ones(n, np.float32)
            seconds = 1e-9 * n * ns_per_element(kernel, x, y, 0.05, turns)
            found[f"dot, {name}, {size}"] = (2.0 * n, 8.0 * n, seconds, place)
    A = np.ones((SIDE, SIDE), np.float32)
    with threadpool_limits(1):
        seconds = kernel_time(lambda: A @ A, 0.1, 2)
    found["matmul by BLAS"] = (2.0 * SIDE**3, 3 * 4.0 * SIDE**2, seconds, far)
    return found


def peak(roofs: Roofs, kernels: Mapping[str, Sequence[Any]]) -> float:
    """The highest FLOP/s measured. BLAS may use wider registers than our compiler prefers."""
    return max(roofs.peak, *(float(flops / seconds) for flops, _, seconds, *_ in kernels.values()))
