"""Traced arrays: which addresses a program touches, and that it computes what NumPy's arrays would."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from numba import njit, prange

from lockstep.cpu.memory_traffic import share
from lockstep.cpu.threads import parallel_sum
from lockstep.cpu.tracing import SERIAL, Endless, Memory, trace
from lockstep.errors import UsageError
from lockstep.experiments.cpu.naive import parallel_sum_in_shared_line


def touched(memory: Memory) -> list[tuple[str, int, str]]:
    """(array, byte in it, r or w) of each access."""
    return [(memory.name(a), a - memory.arrays[memory.name(a)][0], "rw"[w]) for a, w, *_ in memory.accesses]


def test_each_element_has_its_address() -> None:
    memory = Memory()
    a = memory.place(np.arange(6.0).reshape(2, 3), "a")
    assert a[1, 2] == 5
    a[0, -1] = a[1][0] + a.T[1, 0]
    assert a.values[0, 2] == 3 + 1
    assert touched(memory) == [("a", 40, "r"), ("a", 24, "r"), ("a", 8, "r"), ("a", 16, "w")]


def test_arrays_begin_on_a_line_of_their_own() -> None:
    memory = Memory()
    for _ in range(3):
        memory.place(np.zeros(3))
    assert [begin % 64 for begin, _ in memory.arrays.values()] == [0, 0, 0]
    assert len({begin for begin, _ in memory.arrays.values()}) == 3


def test_slices_and_whole_arrays_read_and_write_all_their_elements() -> None:
    memory = Memory()
    a, b = memory.place(np.arange(4.0), "a"), memory.place(np.ones(4), "b")
    a[1:3] += b[1:3] * 2
    assert a.values.tolist() == [0, 3, 4, 3]
    assert touched(memory) == [
        ("b", 8, "r"), ("b", 16, "r"), ("a", 8, "r"), ("a", 16, "r"), ("a", 8, "w"), ("a", 16, "w"),
    ]  # fmt: skip
    assert b.sum() == 4
    assert np.sum(b) == 4


def test_outside_of_an_array_is_an_error_which_compiled_code_would_not_be() -> None:
    a = Memory().place(np.zeros(3))
    with pytest.raises(IndexError):
        a[3]
    with pytest.raises(IndexError):
        a[3] = 1.0


@pytest.mark.parametrize("product", [np.dot, np.matmul, np.inner, lambda a, b: a @ b, lambda a, b: a.dot(b)])
def test_a_librarys_product_is_refused(product: Any) -> None:
    memory = Memory()
    with pytest.raises(UsageError, match="Write the loops"):
        product(memory.place(np.ones((2, 2))), memory.place(np.ones((2, 2))))


def test_masks_are_refused_instead_of_being_counted_wrongly() -> None:
    with pytest.raises(UsageError, match="lists and masks"):
        Memory().place(np.ones(3))[[0, 2]]


@njit
def helper(a: Any, i: int) -> Any:
    return a[i]


@njit(parallel=True)
def by_helper(a: Any) -> Any:
    out = np.zeros(a.size)
    for i in numba.prange(a.size):
        out[i] = helper(a, i) + numba.get_num_threads() - numba.get_num_threads()
    return out


def test_helpers_and_what_numba_offers_are_traced_too() -> None:
    memory = Memory(workers=2)
    out = trace(by_helper, memory, memory.place(np.arange(4.0), "a"))
    assert out.values.tolist() == [0, 1, 2, 3]
    assert [(a[1], a[2]) for a in memory.accesses] == [
        (False, 0), (True, 0), (False, 0), (True, 0), (False, 1), (True, 1), (False, 1), (True, 1),
    ]  # fmt: skip


def test_prange_gives_each_worker_a_piece_and_an_inner_one_is_a_loop() -> None:
    memory = Memory(workers=3)
    workers = []
    for _ in memory.prange(7):
        workers += [memory.worker for _ in memory.prange(1)]
    assert workers == [0, 0, 0, 1, 1, 2, 2]
    assert (memory.worker, memory.region) == (SERIAL, 1)


def transfers(function: Any, workers: int = 4, n: int = 400) -> tuple[int, int]:
    memory = Memory(workers)
    x = np.arange(float(n))
    assert trace(function, memory, memory.place(x, "x"), workers) == x.sum()
    found = share(memory.accesses)
    return found.total, len(found.races)


def test_a_shared_line_moves_at_every_addition_and_an_own_variable_hardly() -> None:
    assert transfers(parallel_sum) == (3, 0)
    moved, races = transfers(parallel_sum_in_shared_line)
    assert moved > 400
    assert races == 0, "no element is shared: that is what makes it false"


@njit(parallel=True)
def racy(x: Any, workers: int) -> Any:
    total = np.zeros(1)
    for w in prange(workers):
        for i in range(w * x.size // workers, (w + 1) * x.size // workers):
            total[0] += x[i]
    return total[0]


def test_a_race_is_seen_although_the_traced_run_gives_the_right_sum() -> None:
    assert transfers(racy)[1] == 1


def test_readers_share_a_line_in_peace() -> None:
    assert share([(0, False, w, 1) for w in range(4)] * 5).total == 0


def test_a_reader_of_what_another_writes_fetches_it_each_time() -> None:
    turns = [(0, True, 0, 1), (8, False, 1, 1)] * 5
    found = share(turns)
    assert found.transfers == {0: 9}  # the first write is free; then it goes there and back
    assert found.races == ()


def test_an_endless_run_is_ended_after_so_many_accesses() -> None:
    memory = Memory(most=100)
    a = memory.place(np.zeros(3))
    a.fill(1.0)
    for _ in range(97):
        a[0] = 1.0
    with pytest.raises(Endless, match="100 accesses"):
        a[0] = 1.0


def test_the_turns_of_outer_pranges_are_written_down() -> None:
    memory = Memory(workers=3)
    for _ in memory.prange(7):
        list(memory.prange(2))
    list(memory.prange(4))
    assert memory.turns == [7, 4]


def test_how_often_each_element_is_used() -> None:
    memory = Memory()
    a = memory.place(np.zeros((2, 2)), "a")
    a[0, 1] = a[1, 1] + a[1, 1]
    assert memory.uses("a").tolist() == [[0, 0], [0, 2]]
    assert memory.uses("a", write=True).tolist() == [[0, 1], [0, 0]]


def test_the_largest_array_that_an_expression_makes_is_known() -> None:
    memory = Memory()
    a = memory.place(np.zeros(8), "a")
    a[:2] + 1
    np.add(a, 1, out=a)
    assert memory.temporary == 2
    a + 1
    assert memory.temporary == 8


def copies(a: Any) -> Any:
    b = np.ascontiguousarray(a.T)
    c = np.asarray(b)
    return c[0, 1]


def test_a_copy_of_a_traced_array_is_traced_too() -> None:
    """A program that worked on a copy had no traffic."""
    memory = Memory()
    assert trace(copies, memory, memory.place(np.arange(4.0).reshape(2, 2), "a")) == 2.0
    assert [n for n, *_ in touched(memory)] == ["a"] * 4 + ["local 1"] * 5
