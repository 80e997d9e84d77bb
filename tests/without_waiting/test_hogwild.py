"""HOGWILD! in compiled threads: what they compute, what the paper's quantities are, what a race may lose. No test looks
at a clock, and none needs threads to run side by side."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np
import pytest
from numba import njit

from lockstep.cpu.threads import count_atomically, thread_seconds
from lockstep.experiments.without_waiting import conflict, lost_updates
from lockstep.without_waiting import hogwild
from lockstep.without_waiting.hogwild import Examples
from lockstep.without_waiting.lock_free import Floats

SMALL = hogwild.data_sets(examples=300)


def by_hand(examples: Examples, order: list[int], rate: float) -> Floats:
    """SGD on dense rows, as a textbook has it."""
    w = np.zeros(examples.size)
    for i in order:
        at = slice(examples.begins[i], examples.begins[i + 1])
        x = np.zeros(examples.size)
        x[examples.coordinates[at]] = examples.values[at]
        w -= rate * (1 / (1 + np.exp(-x @ w)) - examples.labels[i]) * x
    return w


@pytest.mark.sampled(8)
@pytest.mark.parametrize("kernel", hogwild.KERNELS)
@pytest.mark.parametrize("name", SMALL)
def test_one_thread_is_sgd(name: str, kernel: str) -> None:
    w, order = np.zeros(SMALL[name].size), np.random.default_rng(0).permutation(50)
    hogwild.epoch(SMALL[name], w, order, 0.5, 1, hogwild.KERNELS[kernel])
    assert np.allclose(w, by_hand(SMALL[name], order.tolist(), 0.5), rtol=1e-9, atol=1e-12)


def parted(threads: int, each: int = 40) -> Examples:
    """Example i uses coordinates of thread i % threads only."""
    dice = np.random.default_rng(3)
    rows = [np.sort(dice.choice(10, 4, replace=False)) * threads + i % threads for i in range(threads * each)]
    begins = np.arange(0, 4 * len(rows) + 1, 4)
    labels = dice.integers(0, 2, len(rows)).astype(np.float64)
    return Examples(begins, np.concatenate(rows), dice.standard_normal(4 * len(rows)), labels, 10 * threads)


@pytest.mark.parametrize("kernel", hogwild.KERNELS)
def test_threads_that_share_no_coordinate_are_right_to_the_bit(kernel: str) -> None:
    examples = parted(3)
    together, alone, order = np.zeros(examples.size), np.zeros(examples.size), np.arange(len(examples))
    assert len(hogwild.epoch(examples, together, order, 0.5, 3, hogwild.KERNELS[kernel])) == 3
    hogwild.epoch(examples, alone, order, 0.5, 1, hogwild.KERNELS[kernel])
    assert together.tobytes() == alone.tobytes()
    assert np.abs(alone).max() > 0.1


@njit(nogil=True)
def add_under_the_lock(lock, total, times):  # type: ignore[no-untyped-def]
    for _ in range(times):
        while hogwild.exchange(lock, 1):
            pass
        total[0] += 1.0
        hogwild.exchange(lock, 0)


@njit(nogil=True)
def add_atomically(lock, total, times):  # type: ignore[no-untyped-def]
    for _ in range(times):
        hogwild.add(total, 0, 1.0)


@pytest.mark.parametrize("kernel", [add_under_the_lock, add_atomically])
def test_lock_and_atomic_addition_lose_nothing(kernel) -> None:  # type: ignore[no-untyped-def]
    lock, total = np.zeros(64, np.int64), np.zeros(1)
    kernel(lock, total, 0)
    thread_seconds([partial(kernel, lock, total, 100_000)] * 2)
    assert total[0] == 200_000
    assert lock[0] == 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", SMALL)
def test_the_loss_falls_with_and_without_races(name: str, threads: int) -> None:
    found = hogwild.losses(SMALL[name], hogwild.RATES[name], threads, epochs=2)
    assert found[0] == pytest.approx(np.log(2))
    assert len(found) == 3
    assert found[2] < 0.9 * found[0]


def test_the_same_seed_draws_the_same_examples_and_none_uses_a_coordinate_twice() -> None:
    for kind in (hogwild.uniform, hogwild.skewed, hogwild.dense):
        one, other = kind(200, 50), kind(200, 50)
        assert all((a == b).all() for a, b in zip(one.arrays, other.arrays, strict=True))
        rows = np.split(one.coordinates, one.begins[1:-1])
        assert all(len(set(row)) == len(row) > 0 for row in rows)
        assert one.begins[-1] == len(one.coordinates) == len(one.values)
        assert set(one.labels) == {0.0, 1.0}


def members(examples: Examples) -> list[set[int]]:
    return [set(row.tolist()) for row in np.split(examples.coordinates, examples.begins[1:-1])]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("examples", [hogwild.uniform(60, 40, 3), hogwild.skewed(60, 40, 3), hogwild.dense(9, 4)])
def test_the_papers_quantities_are_exact(examples: Examples) -> None:
    sets = members(examples)
    many, pairs = len(sets), list(combinations(sets, 2))
    found = conflict.conflict(examples)
    assert found.omega == max(map(len, sets))
    assert found.delta == max(sum(v in e for e in sets) for v in range(examples.size)) / many
    assert found.rho == max(sum(bool(e & other) for other in sets) for e in sets) / many
    assert found.meeting == pytest.approx(sum(bool(a & b) for a, b in pairs) / len(pairs))


@pytest.mark.slow
def test_uniform_examples_meet_as_often_as_probability_says() -> None:
    size, used = hogwild.COORDINATES, hogwild.USED
    found = conflict.conflict(hogwild.uniform(3000))
    assert found.meeting == pytest.approx(1 - (1 - used / size) ** used, rel=0.05)
    assert (found.omega, round(found.rho, 2)) == (used, 0.01)


def test_one_thread_loses_nothing_and_overtakes_nobody() -> None:
    assert lost_updates.surviving(3, threads=1, increments=1000) == 1000
    assert lost_updates.overtaken(SMALL["dense"], 0.1, threads=1) == 0


def test_of_two_threads_increments_the_atomic_ones_survive() -> None:
    assert lost_updates.surviving(1, 2, 100_001, count_atomically) == 100_001
    assert 0 < lost_updates.surviving(1, 2, 100_001) <= 100_001
    assert 0 <= lost_updates.overtaken(SMALL["dense"], 0.1) <= 1


@pytest.mark.slow
def test_each_table_is_one_line_in_a_cell() -> None:
    speed, loss = hogwild.speed_table(sets=SMALL, repeats=1), hogwild.loss_table(epochs=2, sets=SMALL)
    met, lost = conflict.conflict_table(sets=SMALL), lost_updates.survivors((1, 50), increments=2000, repeats=2)
    assert [row[0] for row in speed.rows] == [row[0] for row in met.rows] == ["uniform", "skewed", "dense"]
    assert [row[1] for row in loss.rows] == ["1", "2, racy", "2, locked"] * 3
    assert [row[0] for row in lost.rows] == ["1", "50"]
    assert all(len(row) == len(table.head) for table in (speed, loss, met, lost) for row in table.rows)
    assert met.rows[2][2:6] == ["32", "100.00%", "100.00%", "100.00%"]
