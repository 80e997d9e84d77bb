"""The data of unit 05's exercises: what a check compares to the bit must be exact in any order."""

from fractions import Fraction
from itertools import chain

import pytest

from lockstep.checks.case import Case
from lockstep.checks.exercise import find
from lockstep.checks.seeds import seed
from lockstep.exercises.all_reduce_sgd.all_reduce_sgd.exercise import batches, start, wanted
from lockstep.experiments.all_reduce_sgd.regression import Halved

SGD = find("all_reduce_sgd.all_reduce_sgd")
CASES = [case for ranks in SGD.worlds for case in SGD.cases(ranks, seed(SGD.id, ranks))]
Matrix = list[list[Fraction]]


def fractions(rows: list[list[float]]) -> Matrix:
    return [[Fraction(value) for value in row] for row in rows]


def exact(case: Case) -> Matrix:
    """w after all steps, computed without any rounding."""
    w = fractions(start(case).view(len(start(case)), -1).tolist())
    for t in range(case.settings["steps"]):
        shares = [batches(case, rank)[t] for rank in case.members]
        x = list(chain.from_iterable(fractions(x.tolist()) for x, _ in shares))
        y = list(chain.from_iterable(fractions(y.view(len(y), -1).tolist()) for _, y in shares))
        off = [[sum(a * row[c] for a, row in zip(xs, w, strict=True)) - v for c, v in enumerate(ys)]
               for xs, ys in zip(x, y, strict=True)]  # fmt: skip
        rate = Fraction(Halved(case.size / 32)(t + 1)) / len(x)
        for i, row in enumerate(w):
            row[:] = [v - rate * sum(e[c] * xs[i] for e, xs in zip(off, x, strict=True)) for c, v in enumerate(row)]
    return w


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_wanted_w_is_exact(case: Case) -> None:
    right = wanted(case)[0]
    assert fractions(right.view(len(right), -1).tolist()) == exact(case)
