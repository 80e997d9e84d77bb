"""The cache model, against traces that one can follow by hand, and against the theory of matrix products."""

from __future__ import annotations

import numpy as np
import pytest

from lockstep.cpu.matmul import blocked_matmul
from lockstep.cpu.memory_traffic import Cache
from lockstep.cpu.tracing import Memory, trace
from lockstep.errors import UsageError
from lockstep.experiments.cpu.naive import matmul_by_columns, matmul_by_rows


def hits(cache: Cache, *addresses: int) -> str:
    """A dot for each miss, an H for each hit."""
    return "".join("H" if cache.access(a) else "." for a in addresses)


def test_a_line_is_fetched_once() -> None:
    assert hits(Cache(1024, 64, 2), 0, 8, 63, 64, 0) == ".HH.H"


def test_the_least_recently_used_line_has_to_go() -> None:
    one_set = Cache(128, 64, 2)
    assert hits(one_set, 0, 64, 0, 128, 0, 64) == "..H.H."  # 64 was used before 0, so 128 took its place


def test_lines_of_one_set_drive_each_other_out_although_there_is_room() -> None:
    direct = Cache(256, 64, 1)  # four sets of one way
    assert hits(direct, 0, 256, 0, 256) == "...."
    assert hits(Cache(256, 64, 4), 0, 256, 0, 256) == "..HH"


def test_a_cache_without_whole_sets_is_refused() -> None:
    with pytest.raises(UsageError, match="whole sets"):
        Cache(100, 64, 2)


def misses(function: object, n: int, *more: int, size: int = 2048) -> int:
    memory, cache = Memory(), Cache(size)
    A, B = np.ones((n, n)), np.ones((n, n))
    C = trace(function, memory, memory.place(A, "A"), memory.place(B, "B"), *more)  # type: ignore[arg-type]
    assert (C.values == n).all()
    for address, *_ in memory.accesses:
        cache.access(address)
    return cache.misses


@pytest.mark.slow
def test_columns_rows_and_blocks_miss_as_theory_says() -> None:
    """n³, n³/8 and about 2n³/(8b) misses: a line has eight float64, and no column of 40 fits into 32 lines."""
    n = 40
    assert misses(matmul_by_columns, n) >= n**3
    assert misses(matmul_by_rows, n) == pytest.approx(n**3 / 8 + 2 * n**2 / 8, rel=0.05)
    assert misses(blocked_matmul, n, 8) == pytest.approx(2 * n**3 / 8 / 8 + n**2 / 8, rel=0.15)


@pytest.mark.slow
def test_a_block_that_does_not_fit_gains_nothing() -> None:
    """Three blocks of 8 x 8 take 1,536 of 2,048 bytes; of 16 x 16 they take 6,144."""
    assert misses(blocked_matmul, 40, 16) > 2 * misses(blocked_matmul, 40, 8)
    assert misses(blocked_matmul, 40, 4) > 1.5 * misses(blocked_matmul, 40, 8)


def test_everything_is_fetched_once_where_all_fits() -> None:
    assert misses(matmul_by_columns, 8, size=32 * 1024) == 3 * 8
