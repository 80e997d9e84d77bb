"""The kernels that a lesson measures: that they compute what they say, and that the machine code is what they are for.
No test looks at a clock."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lockstep.cpu.assembly import innermost_loops
from lockstep.cpu.compiled import inner_loop, machine_code
from lockstep.cpu.threads import count, count_atomically, count_together, thread_seconds
from lockstep.experiments.cpu import topology
from lockstep.experiments.cpu.accumulators import source, with_accumulators
from lockstep.experiments.cpu.branch_prediction import keep_below, keep_below_without_branch
from lockstep.experiments.cpu.latency import circle, follow, latency
from lockstep.experiments.cpu.roofs import STEPS, multiply_adds, triad


@pytest.mark.parametrize("k", [1, 3, 8])
def test_k_accumulators_are_k_chains_in_the_machine_code(k: int) -> None:
    x = np.arange(12.0 * k).reshape(12, k)
    kernel = with_accumulators(k)
    assert kernel(x, 2) == 2 * x.sum()
    found = inner_loop(kernel, x, 2)
    assert (len(found.chains), found.accumulators) == (k, float(k))
    assert source(k).count("+=") == k


def test_the_circle_visits_every_line_once() -> None:
    chain = circle(64 * 100)
    at, visited = 0, []
    for _ in range(100):
        at = int(chain[at])
        visited.append(at)
    assert sorted(visited) == list(range(0, 800, 8))
    assert follow(chain, 100) == 0
    assert latency(1024, seconds=0.001, steps=10) > 0


def test_with_and_without_a_jump_the_same_is_kept() -> None:
    x = np.random.default_rng(0).integers(0, 256, 1000)
    kept, others = np.zeros(1001, np.int64), np.zeros(1001, np.int64)
    k = keep_below(x, 128, kept)
    assert k == keep_below_without_branch(x, 128, others) == (x < 128).sum()
    assert (kept[:k] == x[x < 128]).all()
    assert (others[:k] == kept[:k]).all()


def test_the_roofs_kernels_compute_what_they_are_counted_for() -> None:
    x = np.full(40, 3, np.float32)
    multiply_adds(x, np.float32(0.5), np.float32(0.5), 2)
    assert np.allclose(x, 1 + 2 * 0.5 ** (2 * STEPS))
    a, b = np.zeros(10, np.float32), np.arange(10, dtype=np.float32)
    triad(a, b, b, np.float32(3), 2)
    assert (a == 4 * b).all()
    loop = inner_loop(multiply_adds, x, np.float32(0.5), np.float32(0.5), 2)
    assert loop.products == STEPS * loop.lanes * loop.loads
    assert loop.lanes >= 4


def test_threads_count_into_rows_of_their_own() -> None:
    rows = np.zeros((3, 16), np.int64)
    classes = np.array([0, 1, 1, 2])
    seconds = count_together(classes, rows, turns=5)
    assert rows[:, :4].tolist() == [[5, 10, 5, 0]] * 3
    assert len(seconds) == 3
    assert min(seconds) >= 0


def test_atomic_additions_of_threads_to_one_row_are_all_there() -> None:
    row, classes = np.zeros(4, np.int64), np.random.default_rng(0).integers(0, 4, 10_000)
    count_together(classes, [row, row, row], turns=20, kernel=count_atomically)
    assert row.sum() == 3 * 20 * classes.size


def test_works_begin_together_and_each_has_its_own_time() -> None:
    met: list[int] = []
    assert len(thread_seconds([lambda: met.append(1), lambda: met.append(2)])) == 2
    assert sorted(met) == [1, 2]


def test_a_counter_is_in_memory_and_not_in_a_register() -> None:
    """A false-sharing demonstration showed nothing, since the compiler had kept each thread's sum in a register."""
    text = machine_code(count, np.zeros(4, np.int64), np.zeros(4, np.int64), 1)
    stores = [i for loop in innermost_loops(text) for i in loop.instructions if i.stores]
    assert stores


def test_processors_are_read_from_linux(tmp_path: Path) -> None:
    for cpu, text in (("cpu0", "0,2"), ("cpu1", "1,3"), ("cpu2", "0,2"), ("cpu3", "1,3")):
        (tmp_path / cpu / "topology").mkdir(parents=True)
        (tmp_path / cpu / "topology" / "thread_siblings_list").write_text(text + "\n")
    for node, text in (("node0", "0-1"), ("node1", "2-3")):
        (tmp_path / node).mkdir()
        (tmp_path / node / "cpulist").write_text(text)
    assert topology.siblings(tmp_path) == [(0, 2), (1, 3)]
    assert topology.nodes(tmp_path) == [(0, 1), (2, 3)]
    assert topology.siblings(tmp_path / "none") == topology.nodes(tmp_path / "none") == []
    assert topology.numbers("0-2,8") == (0, 1, 2, 8)
