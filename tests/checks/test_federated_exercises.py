"""The data of two exercises of unit 06: exact in any order, and nobody's secret known to a third."""

from itertools import pairwise

import pytest

from lockstep.checks.case import Case
from lockstep.checks.exercise import find
from lockstep.checks.seeds import seed
from lockstep.exercises.without_waiting.federated_average.exercise import CASES
from lockstep.exercises.without_waiting.masked_sum.exercise import inputs

MASKED = find("without_waiting.masked_sum")
MASKED_CASES = [case for ranks in MASKED.worlds for case in MASKED.cases(ranks, seed(MASKED.id, ranks))]


@pytest.mark.parametrize("told", CASES)
def test_the_examples_that_come_back_divide_without_a_rest(told: str) -> None:
    """A power of two: each order of additions and divisions gives the same bits. (One client's weight is 1.)"""
    total = sum(n for n in CASES[told] if n > 0)
    assert told == "one client" or total & (total - 1) == 0


@pytest.mark.parametrize("case", MASKED_CASES, ids=str)
def test_each_pair_shares_one_secret_that_no_other_rank_has(case: Case) -> None:
    secrets = [inputs(case, rank)[1] for rank in case.members]
    for i, own in enumerate(secrets):
        assert own[i] is None
        assert all(own[j] == secrets[j][i] for j in range(case.size))
    known = sorted(secret for i, own in enumerate(secrets) for secret in own[:i])
    assert all(a != b for a, b in pairwise(known))
