"""The data of unit 05's exercises: what a check compares to the bit must be exact in any order."""

from fractions import Fraction
from itertools import chain

import pytest

from lockstep.checks.case import Case
from lockstep.checks.exercise import find
from lockstep.checks.observation import Seen
from lockstep.checks.seeds import seed
from lockstep.exercises.all_reduce_sgd.all_reduce_sgd.exercise import batches, examine, start, wanted
from lockstep.exercises.all_reduce_sgd.normalised_rows import examine as shifted_or_scaled
from lockstep.exercises.all_reduce_sgd.normalised_rows import normalised
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


def test_of_a_single_step_it_is_told_how_far_it_goes() -> None:
    """Of a step with a wrong rate or a wrong mean nothing was said but one number."""
    case = next(case for case in CASES if case.settings["steps"] == 1 and case.size == 4)
    begin, right = start(case), wanted(case)[0]
    for times, told in ((8.0, "rank 0 is 8 times"), (1.0, ""), (0.0, "rank 0 is 0 times")):
        fault = examine(Seen(case, [begin + times * (right - begin)] * case.size, [[]] * case.size))
        assert told in (fault.message if fault else "")


def test_of_a_normalised_column_it_is_told_what_was_subtracted_and_what_it_was_divided_by() -> None:
    """Means over all columns, squared sums, no mean at all: each was one wrong number."""
    norm = find("all_reduce_sgd.sync_batch_norm")
    case = norm.cases(4, 0)[0]
    right = normalised(case)
    fault = shifted_or_scaled(Seen(case, [2 * x for x in right], [[]] * case.size))
    assert fault is not None
    assert "instead of" in fault.message.partition("divides by")[2]
    assert "instead of" not in fault.message.partition("divides by")[0]
    assert shifted_or_scaled(Seen(case, right, [[]] * case.size)) is None
