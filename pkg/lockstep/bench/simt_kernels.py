"""The kernels of the GPU unit, with arguments of sizes that a simulator can handle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

ELEMENTS: Mapping[str, int] = {"quick": 256, "normal": 4096, "full": 16_384}  # of a vector
SIDE: Mapping[str, int] = {"quick": 32, "normal": 64, "full": 96}  # of a matrix


@dataclass(frozen=True)
class Case:
    kernel: Callable[..., None]
    grid: int | tuple[int, int]
    block: int | tuple[int, int]
    arguments: Callable[[], tuple[Any, ...]]


def cases(size: str) -> dict[str, Case]:
    """The kernels with their arguments, by name. The third reduction is left out: the simulator has no shuffles."""
    from lockstep.simt import kernels

    n, side = ELEMENTS[size], SIDE[size]
    one_each, tiles, blocks = (n // 128, 128), (side // 16, side // 16), (side // 32, side // 32)
    return {
        "vector_add": Case(kernels.vector_add, *one_each, lambda: (vector(n), vector(n), vector(n))),
        "saxpy_grid_stride": Case(kernels.saxpy_grid_stride, 2, 128, lambda: (np.float32(2), vector(n), vector(n))),
        "reduce_divergent": Case(kernels.reduce_divergent, *one_each, lambda: (vector(n), vector(1))),
        "reduce_sequential": Case(kernels.reduce_sequential, *one_each, lambda: (vector(n), vector(1))),
        "naive_transpose": Case(kernels.naive_transpose, blocks, (32, 32), lambda: (matrix(side), matrix(side))),
        "transpose": Case(kernels.transpose, blocks, (32, 32), lambda: (matrix(side), matrix(side))),
        "naive_matmul": Case(kernels.naive_matmul, tiles, (16, 16), lambda: tuple(matrix(side) for _ in range(3))),
        "tiled_matmul": Case(kernels.tiled_matmul, tiles, (16, 16), lambda: tuple(matrix(side) for _ in range(3))),
    }


def vector(count: int) -> Any:
    return np.ones(count, np.float32)


def matrix(side: int) -> Any:
    return np.ones((side, side), np.float32)
