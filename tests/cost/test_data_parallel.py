"""When the backward pass hides the all-reduce, and how gradients are put into buckets."""

import random

import pytest

from lockstep.cost.data_parallel import (
    Gradient,
    all_reduce_seconds,
    best_bucket_bytes,
    bucket_plan,
    smallest_batch_that_hides,
    step_seconds,
)
from lockstep.errors import UsageError

MACHINES = [(25e-6, 8e-10), (3.4e-6, 1 / 150e9), (1e-3, 0.0), (0.0, 1e-9)]


def test_the_ring_counted_by_hand() -> None:
    assert all_reduce_seconds(1000, 4, 2.0, 0.5) == 2 * 3 * (2.0 + 1000 / 4 * 0.5)
    assert all_reduce_seconds(1000, 1, 2.0, 0.5) == 0


@pytest.mark.parametrize(("alpha", "beta"), MACHINES)
@pytest.mark.parametrize("ranks", [2, 3, 8, 1000])
@pytest.mark.parametrize("nbytes", [4, 10**5, 10**8])
def test_the_smallest_batch_hides_and_one_fewer_does_not(nbytes: int, ranks: int, alpha: float, beta: float) -> None:
    flops, rate = 3e7, 7e12
    batch = smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate)
    ring = all_reduce_seconds(nbytes, ranks, alpha, beta)
    assert batch * flops / rate >= ring * (1 - 1e-11)
    assert batch == 1 or (batch - 1) * flops / rate < ring


def test_equally_long_is_long_enough_also_where_floats_round() -> None:
    """2·(0.1 + 0.2) seconds and 3 examples of 0.2: in floats the ring takes 0.6000000000000001."""
    assert 2 * (0.1 + 0.2) > 0.6
    assert smallest_batch_that_hides(0.2, 1, 2, 0.1, 0.4, 1.0) == 3
    assert smallest_batch_that_hides(2.0, 4, 2, 0.5, 0.25, 1.0) == 1


def test_one_rank_hides_nothing_with_one_example() -> None:
    assert smallest_batch_that_hides(1e9, 10**9, 1, 1.0, 1.0, 1.0) == 1


@pytest.mark.parametrize(("flops", "rate"), [(0, 1e12), (1e9, 0), (-1, 1e12)])
def test_no_flop_is_refused(flops: float, rate: float) -> None:
    with pytest.raises(UsageError, match="some FLOP"):
        smallest_batch_that_hides(flops, 1, 2, 1.0, 1.0, rate)


def test_a_bucket_is_closed_by_the_gradient_that_fills_it() -> None:
    gradients = [(1.0, 30), (2.0, 80), (3.0, 10), (4.0, 10), (5.0, 70)]
    assert bucket_plan(gradients, 1) == gradients
    assert bucket_plan(gradients, 100) == [(2.0, 110), (5.0, 90)]
    assert bucket_plan(gradients, 110) == [(2.0, 110), (5.0, 90)]
    assert bucket_plan(gradients, 1000) == [(5.0, 200)]
    assert bucket_plan([], 10) == []


def test_the_buckets_of_a_step_counted_by_hand() -> None:
    """Two ranks, so a bucket of n bytes takes 2·alpha + n·beta seconds."""
    gradients = [(1.0, 4), (2.0, 4), (9.0, 4)]
    assert step_seconds(gradients, 1, 2, alpha=1.0, beta=0.5) == 13  # 1-5, 5-9, 9-13: each follows the one before
    assert step_seconds(gradients, 5, 2, alpha=1.0, beta=0.5) == 13  # 2-8, 9-13
    assert step_seconds(gradients, 12, 2, alpha=1.0, beta=0.5) == 17  # 9-17: nothing hides it


def drawn(dice: random.Random, layers: int) -> list[Gradient]:
    ready = sorted(dice.uniform(0, 0.1) for _ in range(layers))
    return [(seconds, 4 * int(10 ** dice.uniform(2, 6.5))) for seconds in ready]


@pytest.mark.parametrize(("alpha", "beta"), MACHINES)
@pytest.mark.parametrize("seed", range(3))
def test_no_size_of_a_fine_sweep_beats_the_best(seed: int, alpha: float, beta: float) -> None:
    gradients = drawn(random.Random(seed), layers=12)
    best = step_seconds(gradients, best_bucket_bytes(gradients, 8, alpha, beta), 8, alpha, beta)
    sweep = [step_seconds(gradients, int(1.02**n) + 1, 8, alpha, beta) for n in range(900)]
    assert best == pytest.approx(min(sweep), rel=1e-12)


def test_where_alpha_decides_one_bucket_is_best_and_where_beta_does_the_last_is_small() -> None:
    gradients = [(0.5 * n, 2**20) for n in range(1, 11)]
    assert bucket_plan(gradients, best_bucket_bytes(gradients, 8, alpha=1.0, beta=2.0**-40)) == [(5.0, 10 * 2**20)]
    size = best_bucket_bytes(gradients, 8, alpha=0.0, beta=2.0**-24)
    assert bucket_plan(gradients, size)[-1] == gradients[-1]
    assert size == 3 * 2**20  # of those with the last gradient alone the fewest buckets: 3, 3, 3 and 1
    assert step_seconds(gradients, size, 8, 0.0, 2.0**-24) == step_seconds(gradients, 1, 8, 0.0, 2.0**-24)


@pytest.mark.parametrize("gradients", [[], [(1.0, 0)]])
def test_without_gradients_no_size_is_best(gradients: list[Gradient]) -> None:
    with pytest.raises(UsageError, match="nothing to put"):
        best_bucket_bytes(gradients, 8, 1.0, 1.0)


def test_a_bucket_of_no_bytes_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 1 byte"):
        bucket_plan([(1.0, 4)], 0)
