# mypy: disable-error-code="untyped-decorator"
"""Naive versions of the kernels in ``lockstep.cpu``: the same values, each with one performance bug."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, prange


@njit
def naive_dot(x: Any, y: Any) -> Any:
    """The dot product with one accumulator, in the order of the elements. ``x``, ``y``: float32 arrays of one
    length."""
    s = np.float32(0)
    for i in range(x.size):
        s += x[i] * y[i]
    return s


def times_as_fast(dot: Callable[..., Any], x: Any, y: Any, elements: int = 8192) -> float:
    """The speedup over ``naive_dot``: the best of several, by the clock of this thread. The arrays are repeated up to
    ``elements``, so that the call itself takes little of the time."""
    x, y = np.resize(x, elements), np.resize(y, elements)
    naive_dot(x, y)
    return min(_time(naive_dot, x, y) for _ in range(5)) / max(1e-9, min(_time(dot, x, y) for _ in range(5)))


def _time(dot: Callable[..., Any], x: Any, y: Any) -> float:
    begin = time.thread_time()
    for _ in range(50):
        dot(x, y)
    return time.thread_time() - begin


@njit
def saxpy_in_float64(a: float, x: Any, y: Any) -> None:
    """saxpy without the conversion of ``a``: each element is converted to float64 and back."""
    for i in range(x.size):
        y[i] = a * x[i] + y[i]


@njit
def matmul_by_columns(A: Any, B: Any) -> Any:
    """Order i, j, k: B is read down its columns. ``A`` is (n, p), ``B`` is (p, m), float64."""
    n, p, m = A.shape[0], A.shape[1], B.shape[1]
    C = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            s = 0.0
            for k in range(p):
                s += A[i, k] * B[k, j]
            C[i, j] = s
    return C


@njit
def matmul_by_rows(A: Any, B: Any) -> Any:
    """Order i, k, j: B and C are read along their rows."""
    n, p, m = A.shape[0], A.shape[1], B.shape[1]
    C = np.zeros((n, m))
    for i in range(n):
        for k in range(p):
            a = A[i, k]
            for j in range(m):
                C[i, j] += a * B[k, j]
    return C


@njit(parallel=True)
def parallel_sum_in_shared_line(x: Any, workers: int) -> float:
    """A parallel sum with false sharing: every addition writes to an array whose elements are in one cache line."""
    partial = np.zeros(workers)
    for w in prange(workers):
        for i in range(w * x.size // workers, (w + 1) * x.size // workers):
            partial[w] += x[i]
    total = 0.0
    for w in range(workers):
        total += partial[w]
    return total
