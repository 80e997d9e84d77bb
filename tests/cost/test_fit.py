"""Alpha and beta come back out of the times that they make; the chosen algorithm is the cheapest one."""

import random

import pytest

from lockstep.cost.algorithms import (
    binomial_tree,
    halving_doubling_all_reduce,
    recursive_doubling_all_reduce,
    ring_all_reduce,
)
from lockstep.cost.fit import choices, choose_algorithm, crossings, fit_alpha_beta
from lockstep.errors import UsageError

NBYTES = [4**i for i in range(13)]  # 1 byte to 16 MiB


@pytest.mark.parametrize(("alpha", "beta"), [(5e-5, 1e-9), (3.4e-6, 1 / 3e11), (1e-3, 0.0), (0.0, 1e-8)])
def test_exact_times_give_exact_answers(alpha: float, beta: float) -> None:
    found = fit_alpha_beta(NBYTES, [alpha + n * beta for n in NBYTES if n * beta + alpha > 0])
    assert found == pytest.approx((alpha, beta), rel=1e-6, abs=1e-15)


def test_noise_on_the_large_messages_does_not_spoil_alpha() -> None:
    draw = random.Random(0)
    times = [(5e-5 + n * 1e-9) * draw.uniform(0.8, 1.25) for n in NBYTES]
    alpha, beta = fit_alpha_beta(NBYTES, times)
    assert alpha == pytest.approx(5e-5, rel=0.25)
    assert beta == pytest.approx(1e-9, rel=0.25)


def test_the_answer_is_the_least_sum_of_squared_relative_errors() -> None:
    draw = random.Random(1)
    times = [(5e-5 + n * 1e-9) * draw.uniform(0.5, 2) for n in NBYTES]

    def error(a: float, b: float) -> float:
        return sum(((a + n * b - t) / t) ** 2 for n, t in zip(NBYTES, times, strict=True))

    alpha, beta = fit_alpha_beta(NBYTES, times)
    around = [(alpha * x, beta * y) for x in (0.99, 1, 1.01) for y in (0.99, 1, 1.01)]
    assert min(around, key=lambda pair: error(*pair)) == (alpha, beta)


@pytest.mark.parametrize(
    ("nbytes", "seconds", "border"), [([1, 1000], [1e-6, 1e-2], 0), ([1, 1000, 1000], [2e-5, 1e-5, 1.2e-5], 1)]
)
def test_neither_number_is_ever_negative(nbytes: list[int], seconds: list[float], border: int) -> None:
    found = fit_alpha_beta(nbytes, seconds)
    assert found[border] == 0.0
    assert found[1 - border] > 0


@pytest.mark.parametrize(
    ("nbytes", "seconds", "told"),
    [
        ([1, 2], [1.0], "2 sizes but 1 times"),
        ([8, 8], [1.0, 2.0], "at least two sizes"),
        ([], [], "at least two sizes"),
        ([1, 2], [0.0, 1.0], "above 0 seconds"),
        ([1, 2], [float("nan"), 1.0], "above 0 seconds"),
        ([1, 2], [1.0, float("nan")], "above 0 seconds"),
        ([-1, 2], [1.0, 1.0], "at least 0 bytes"),
    ],
)
def test_what_cannot_be_fitted_is_refused(nbytes: list[int], seconds: list[float], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        fit_alpha_beta(nbytes, seconds)


@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 6, 7, 8, 12, 16, 100])
@pytest.mark.parametrize("nbytes", [1, 10**3, 10**5, 10**6, 10**9])
def test_the_choice_is_the_cheapest_of_those_that_exist(ranks: int, nbytes: int) -> None:
    alpha, beta = 2e-5, 1e-9
    seconds = {
        "ring": ring_all_reduce(nbytes, ranks, alpha, beta).seconds,
        "tree": binomial_tree(nbytes, ranks, alpha, beta, "all_reduce").seconds,
    }
    if ranks & (ranks - 1) == 0:
        seconds["halving_doubling"] = halving_doubling_all_reduce(nbytes, ranks, alpha, beta).seconds
        seconds["recursive_doubling"] = recursive_doubling_all_reduce(nbytes, ranks, alpha, beta).seconds
    assert seconds[choose_algorithm(nbytes, ranks, alpha, beta)] == min(seconds.values())


def test_tree_and_ring_cross_where_the_docstring_says() -> None:
    alpha, beta, ranks, log = 2e-5, 1e-9, 12, 4
    crossing = int(alpha / beta * (ranks - 1 - log) / (log - (ranks - 1) / ranks))
    assert choose_algorithm(crossing - 1000, ranks, alpha, beta) == "tree"
    assert choose_algorithm(crossing + 1000, ranks, alpha, beta) == "ring"


def test_the_two_doublings_cross_where_the_docstring_says() -> None:
    alpha, beta, ranks, log = 2e-5, 1e-9, 16, 4
    crossing = int(alpha / beta * log / (log - 2 * (ranks - 1) / ranks))
    assert choose_algorithm(crossing - 1000, ranks, alpha, beta) == "recursive_doubling"
    assert choose_algorithm(crossing + 1000, ranks, alpha, beta) == "halving_doubling"


def test_one_rank_may_choose_anything() -> None:
    assert choose_algorithm(100, 1, 1e-5, 1e-9) in ("ring", "tree", "halving_doubling", "recursive_doubling")


@pytest.mark.parametrize("ranks", [1, 2, 3, 12, 16, 1000])
def test_two_choices_are_equal_where_they_cross_and_the_first_of_them_wins_above(ranks):
    for (above, below), nbytes in crossings(ranks, 25e-6, 0.8e-9).items():
        at, beyond = (choices(f * nbytes, ranks, 25e-6, 0.8e-9) for f in (1, 2))
        assert at[above] == pytest.approx(at[below])
        assert beyond[above] < beyond[below]


def test_the_two_doublings_of_sixteen_ranks_cross_and_of_twelve_there_are_none():
    pair = "halving_doubling", "recursive_doubling"
    assert crossings(16, 25e-6, 0.8e-9)[pair] == pytest.approx(4 * 25e-6 / (0.8e-9 * (4 - 2 * 15 / 16)))
    assert pair not in crossings(12, 25e-6, 0.8e-9)
