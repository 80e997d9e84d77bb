"""Factors that jitter multiplies times by: of mean 1, as wide as was asked for, each rank's own."""

import statistics

import pytest

from lockstep.cost.contention import Draws, factors
from lockstep.machines import Jitter


@pytest.mark.parametrize("variation", [0.05, 0.3, 1.0])
def test_the_mean_is_one_and_the_variation_is_what_was_asked_for(variation: float) -> None:
    draw = factors(variation, "a seed")
    drawn = [draw() for _ in range(100_000)]
    assert min(drawn) > 0
    assert statistics.fmean(drawn) == pytest.approx(1, abs=0.02)
    assert statistics.stdev(drawn) == pytest.approx(variation, rel=0.1)


def test_the_nth_factor_of_a_rank_depends_on_nothing_but_seed_rank_and_n() -> None:
    """Two ranks that take turns draw what each of them draws alone."""
    jitter = Jitter(compute=0.1, messages=0.2, seed=7)
    a, b = Draws(jitter, 0), Draws(jitter, 1)
    mixed = [(a.compute(), b.message(), b.compute(), a.message()) for _ in range(5)]
    alone = Draws(jitter, 0)
    assert [row[0] for row in mixed] == [alone.compute() for _ in range(5)]
    assert [row[3] for row in mixed] == [alone.message() for _ in range(5)]
    assert len({x for row in mixed for x in row}) == 20
    assert Draws(Jitter(0.1, 0.2, seed=8), 0).compute() != mixed[0][0]


def test_what_does_not_vary_is_multiplied_by_one() -> None:
    assert [Draws(Jitter(compute=0.5), 3).message() for _ in range(3)] == [1.0, 1.0, 1.0]
