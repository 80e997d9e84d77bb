"""Elementwise kernels with one or many elements a thread: neighbouring threads always take neighbouring elements."""

from __future__ import annotations

from typing import Any

from numba import cuda

Array = Any  # of a device or of NumPy


def vector_add(a: Array, b: Array, out: Array) -> None:
    """``out = a + b``, vectors of n elements; any grid with at least n threads. The last block has threads to spare,
    hence the guard."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


def saxpy_grid_stride(alpha: float, x: Array, y: Array) -> None:
    """``y = alpha·x + y``, vectors of n elements, with a grid of any size: the whole grid steps on together, so that
    a warp always reads one row of 32 neighbours. (Harris, "CUDA Pro Tip: Write Flexible Kernels with Grid-Stride
    Loops", 2013.)"""
    for i in range(cuda.grid(1), y.size, cuda.gridsize(1)):
        y[i] = alpha * x[i] + y[i]
