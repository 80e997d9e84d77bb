"""What lesson 02 says in sentences, and the tables into which it puts the learner's lines. No test looks at a clock."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numba import njit, prange

from lockstep.cpu import memory_traffic
from lockstep.cpu.instruction_level_parallelism import begins, cycles
from lockstep.cpu.matmul import blocked_matmul
from lockstep.cpu.memory_traffic import Cache
from lockstep.cpu.tracing import Memory, trace
from lockstep.experiments.cpu import memory_hierarchy as distances
from lockstep.experiments.cpu import numa, side_by_side
from lockstep.experiments.cpu.blocks import block_width, gflops
from lockstep.experiments.cpu.naive import matmul_by_columns, matmul_by_rows, naive_dot
from lockstep.experiments.cpu.placed import peak
from lockstep.experiments.cpu.roofs import Roofs
from lockstep.experiments.cpu.rungs import python_dot, roof
from lockstep.experiments.cpu.your_line import pieces_table, walks_table
from lockstep.machines import find

ROOFS = Roofs(100e9, {"L1": 200e9, "memory": 10e9})

# ---- sections 1 and 2


def test_the_loop_in_python_is_the_compiled_one() -> None:
    x = np.arange(9, dtype=np.float32) / 4
    assert python_dot(x.tolist(), x.tolist()) == naive_dot(x, x)


def test_the_roof_is_the_slower_one_of_computing_and_loading() -> None:
    assert roof(ROOFS) == pytest.approx(0.04)
    assert roof(Roofs(10e9, {"L1": 200e9})) == pytest.approx(0.2)


@pytest.mark.parametrize(("latency", "ports"), [(4, 2), (4, 1), (3, 4), (1, 3), (2, 2)])
def test_latency_times_ports_accumulators_are_just_enough(latency: int, ports: int) -> None:
    enough, many = latency * ports, 240
    assert cycles(many, enough, latency, ports) == cycles(many, many, latency, ports)
    assert enough == 1 or cycles(many, enough - 1, latency, ports) > cycles(many, enough, latency, ports)
    assert cycles(many, 1, latency, ports) == many * latency


def test_six_accumulators_do_150_additions_in_100_cycles_once_they_are_under_way() -> None:
    ends = [begin + 4 for begin in begins(400, 6, latency=4, ports=2)]
    assert sum(100 < end <= 200 for end in ends) == 150
    assert max(np.bincount([end - 4 for end in ends])) <= 2


# ---- sections 4 and 9


def test_the_way_goes_from_near_to_far_and_says_where_each_number_is_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distances, "survey", lambda: find("laptop"))
    monkeypatch.setattr(distances, "latency", lambda nbytes: 1e-9 * nbytes**0.3)
    monkeypatch.setattr(distances, "addition_seconds", lambda: 1e-9)
    found = distances.distances(ROOFS)
    assert all(a.seconds <= b.seconds for a, b in pairwise(found))
    assert found[0].where == "a register"
    assert all(d.source for d in found)
    rows = {r[0]: r for r in distances.distances_table(ROOFS).rows}
    assert rows["another server, by TCP"][1:4] == ("25 µs", "25,000", "1.25")
    assert rows["the other socket's memory"][1:4] == ("143 ns", "143", "55.7")


def test_between_sockets_a_stream_suffers_more_than_a_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numa, "here_seconds", list)
    table = numa.numa_table()
    ratios = {row[0]: float(row[3]) for row in table.rows}
    assert (ratios["one read of memory"], ratios["reads by all its cores"]) == (1.6, 3.2)
    assert "This machine has one node" in table.caption
    monkeypatch.setattr(numa, "here_seconds", lambda: [1e-7, 2e-7])
    assert numa.numa_table().rows[-1] == ("this machine: one read of memory", "100 ns", "200 ns", "2.0")
    assert "This machine" not in numa.numa_table().caption


# ---- section 5


@pytest.mark.slow
def test_misses_are_those_that_the_lesson_derives() -> None:
    assert memory_traffic.misses(matmul_by_rows) == 5040
    assert memory_traffic.misses(matmul_by_columns) > 24 * 40 * 40
    assert memory_traffic.misses(blocked_matmul, 8) == 1395
    memory, anywhere = Memory(), Cache(memory_traffic.SMALL, ways=32)
    A, B = (memory.place(np.ones(shape)) for shape in memory_traffic.SHAPES)
    trace(blocked_matmul, memory, A, B, 8)
    for address, *_ in memory.accesses:
        anywhere.access(address)
    assert anywhere.misses == 75 * 2 * 8 + 15 * 8, "without lines that crowd each other out"


def test_the_learners_line_says_what_the_cache_fetches() -> None:
    rows = {r[0]: r[1:] for r in walks_table(lambda i, j, columns: (i * columns + j) // 8).rows}
    assert rows == {"along the rows": ("1,600", "200", "200"), "down the columns": ("1,600", "200", "1,600")}
    by_columns = walks_table(lambda i, j, columns: (j * columns + i) // 8).rows
    assert [r[3] for r in by_columns] == ["1,600", "200"]


def test_three_blocks_fit_and_four_times_as_wide_would_not() -> None:
    for cache in (2**15, 2**20, 2**21):
        assert 3 * 8 * block_width(cache) ** 2 <= cache < 3 * 8 * (2 * block_width(cache)) ** 2
    assert gflops(np.matmul, 8, runs=1) > 0


# ---- section 6


def test_the_level_roof_is_the_most_that_anything_reached() -> None:
    assert peak(ROOFS, {"slow": (1e9, 1, 1.0)}) == 100e9
    assert peak(ROOFS, {"slow": (1e9, 1, 1.0), "blas": (3e11, 1, 1.0)}) == 3e11


# ---- sections 7 and 8


def spread(apart: int):
    @njit(parallel=True)
    def parallel_sum(x, workers):
        partial = np.zeros(apart * workers)
        for w in prange(workers):
            for i in range(w, x.size, workers):
                partial[apart * w] += x[i]
        return partial.sum()

    return parallel_sum


def test_lines_move_as_often_as_the_lesson_derives() -> None:
    moved, accesses = memory_traffic.transfers(spread(1), 400, workers=4)
    assert moved == 400 + 100 - 1
    assert {worker for _, worker in memory_traffic.written(accesses)} == {0, 1, 2, 3}
    assert memory_traffic.transfers(spread(2), 400, workers=4)[0] == 499, "bytes 0 to 55 are one line"
    assert memory_traffic.transfers(spread(8), 400, workers=4)[0] == 0


def test_the_learners_line_cuts_the_numbers() -> None:
    rows = pieces_table(lambda w, n, workers: w * n // workers).rows
    assert [r[2] for r in rows] == ["2", "3", "2", "3", "10"]
    assert rows[-1][3] == "45"
    assert pieces_table(lambda w, n, workers: w * (n // workers)).rows[-1][2:] == ("8", "28"), "nobody has 8 and 9"


def test_atomic_additions_all_arrive() -> None:
    plain, atomic = side_by_side.race_table(turns=1).rows
    assert atomic[3] == "200,000 of 200,000"
    assert plain[3].endswith("of 200,000")
    assert [r[0] for r in side_by_side.lines_table(turns=1, runs=2).rows] == ["in one line", "512 bytes apart"]
