"""Sentences that fresh readers of their answers found vague, or nearly false: each now says what its numbers show."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from lockstep.checks.case import Case
from lockstep.checks.transforms import changed_tensors
from lockstep.classical.kmeans import parallel_kmeans_step
from lockstep.exercises.horovod.quorums import RATE, cases, inputs, newest, told_gradients
from lockstep.exercises.scikit_learn.mend_oversubscription.exercise import told_results
from lockstep.exercises.scikit_learn.parallel_kmeans_step.exercise import of_which_rows
from lockstep.exercises.tensor_parallel.differences import times

RIGHT = torch.tensor([3.0, 7.0, 11.0], dtype=torch.float64)


def change(held: Tensor) -> tuple[str, str] | None:
    return changed_tensors([held], [RIGHT], [None])


@pytest.mark.parametrize(
    ("held", "id", "told"),
    [
        (RIGHT * 16 / 17, "constant-factor", "16/17 of the right one"),  # it was 0.941176 times
        (RIGHT * 16 / 3, "constant-factor", "16/3 times the right one"),
        (RIGHT * 1.5, "constant-factor", "1.5 times the right one"),
        (RIGHT * 16 / (16 + 1e-6), "constant-factor", "off by the same share of it, −6.2e−08"),  # float32, it was told
        ((RIGHT / 7).float().double() * 7, "single-precision", "No element is off by more than 2e-08 of it"),
    ],
)
def test_how_far_tensors_are_off(held: Tensor, id: str, told: str) -> None:
    found = change(held)
    assert found is not None
    assert found[0] == id
    assert told in found[1]


def test_the_same_on_k_ranks_added_up_is_told() -> None:
    assert times(4 * RIGHT, RIGHT, 4).endswith("4 times what it should be, as a sum of what 4 ranks have alike is.")
    assert times(3 * RIGHT, RIGHT, 4).endswith("3 times what it should be.")


def behind() -> Case:
    return next(case for case in cases(4, 0) if case.settings["steps"] == [5, 7, 7, 1])


@pytest.mark.parametrize(
    ("who", "n", "told"),
    [
        ((0, 1, 2, 3), 2, "the gradients of ranks 0, 1, 2 and 3, divided by 2; it takes those of ranks 1 and 2"),
        ((), 1, "there is nobody's gradient"),
    ],
)
def test_whose_gradients_are_in_a_step(who: tuple[int, ...], n: int, told: str) -> None:
    case = behind()
    w = newest(case)
    step = w - RATE * sum((inputs(case, rank)[1](w) for rank in who), 0 * w) / n
    assert told in told_gradients(case, {0: step, 3: step}, torch.allclose)
    assert not told_gradients(case, {0: step + 1}, torch.allclose)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (lambda X: X[:-2], "the last 2 of the 11 rows are left out"),
        (lambda X: np.vstack([X[:3], X[4:7], X[8:10]]), "the last row of each part is left out"),
        (lambda X: np.vstack([X, X[4:5], X[8:9]]), "the first row of each part but the first counts twice"),
        (lambda X: X[::2], ""),
    ],
)
def test_of_which_rows_centres_are_made(rows: Callable[[Any], Any], told: str) -> None:
    X = np.random.default_rng(0).normal(size=(11, 2))
    moved = parallel_kmeans_step(rows(X), X[[0, 5]], 1)
    found = of_which_rows((X, X[[0, 5]], 3), moved)
    assert told in found if told else not found


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        ([3, 1, 2], "all results, in another order"),
        ([1, 2, [3, 4]], "for fit 2 you return a list, tuple or array of 2 values, and it returned 3"),
        ([1, 2], "a list, tuple or array of 2 values for 3 fits"),
        (None, "nothing (None) for 3 fits"),
    ],
)
def test_order_is_asked_for_where_it_is_not_right(returned: Any, told: str) -> None:
    assert told in told_results(returned, [1, 2, 3])
