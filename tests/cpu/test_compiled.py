"""What numba makes of the unit's kernels on this machine, and that naive and fast compute the same."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from lockstep.cpu.compiled import inner_loop, machine_code
from lockstep.cpu.dot import dot
from lockstep.cpu.matmul import blocked_matmul
from lockstep.cpu.saxpy import saxpy
from lockstep.cpu.threads import parallel_sum
from lockstep.errors import UsageError
from lockstep.experiments.cpu import naive

X, Y = np.arange(64, dtype=np.float32), np.ones(64, np.float32)


@pytest.mark.slow
def test_the_naive_dot_waits_and_the_fast_one_does_not() -> None:
    slow, fast = inner_loop(naive.naive_dot, X, Y), inner_loop(dot, X, Y)
    assert (slow.accumulators, slow.chains[0].lanes) == (1.0, 1)
    assert fast.accumulators >= 4
    assert fast.chains[0].lanes >= 4


def test_a_python_float_halves_the_lanes() -> None:
    wide, narrow = inner_loop(saxpy, 2.0, X, Y), inner_loop(naive.saxpy_in_float64, 2.0, X, Y)
    assert (wide.element_bits, narrow.element_bits) == (32, 64)
    assert wide.lanes >= 4


def test_what_is_not_compiled_is_told_how() -> None:
    with pytest.raises(UsageError, match="@njit"):
        machine_code(lambda x: x, X)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("n", [0, 1, 5, 64, 1001])
def test_fast_and_naive_agree(n: int) -> None:
    draw = np.random.default_rng(n)
    x, y = (draw.integers(-8, 9, n).astype(np.float32) for _ in range(2))
    assert dot(x, y) == naive.naive_dot(x, y) == (x * y).sum()
    one, other = y.copy(), y.copy()
    saxpy(3.0, x, one)
    naive.saxpy_in_float64(3.0, x, other)
    assert (one == 3 * x + y).all()
    assert (one == other).all()
    whole = x.astype(np.float64)
    for workers in (1, 2, 3, 7):
        assert parallel_sum(whole, workers) == naive.parallel_sum_in_shared_line(whole, workers) == whole.sum()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("n", "p", "m", "block"), [(1, 1, 1, 1), (5, 7, 3, 2), (8, 8, 8, 8), (9, 4, 6, 16)])
def test_products_agree(n: int, p: int, m: int, block: int) -> None:
    draw = np.random.default_rng(n)
    A, B = draw.integers(-8, 9, (n, p)).astype(float), draw.integers(-8, 9, (p, m)).astype(float)
    for C in (naive.matmul_by_columns(A, B), naive.matmul_by_rows(A, B), blocked_matmul(A, B, block)):
        assert (A @ B == C).all()


def test_types_named_by_the_author_are_the_ones_that_are_read() -> None:
    """`@njit("f4(f4[:], f4[:])")` compiles for arrays with any stride, and for nothing else: reading it raised."""
    strided = njit("f4(f4[:], f4[:])", fastmath=True)(naive.naive_dot.py_func)
    assert strided(X, Y) == X.sum()
    assert inner_loop(strided, X, Y).arithmetic
