"""The data of two exercises of unit 06: exact in any order, and nobody's secret known to a third."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
import torch

from lockstep.checks.case import Case
from lockstep.checks.exercise import find
from lockstep.checks.observation import Seen
from lockstep.checks.seeds import seed
from lockstep.checks.transforms import changed_tensors
from lockstep.exercises.without_waiting.federated_average.exercise import CASES, THIRDS
from lockstep.exercises.without_waiting.leaks import adds_up, once_each
from lockstep.exercises.without_waiting.masked_sum.exercise import inputs
from lockstep.without_waiting.mask import M

MASKED, FEDERATED = find("without_waiting.masked_sum"), find("without_waiting.federated_average")
MASKED_CASES = [case for ranks in MASKED.worlds for case in MASKED.cases(ranks, seed(MASKED.id, ranks))]


@pytest.mark.parametrize("told", CASES)
def test_the_examples_that_come_back_divide_without_a_rest(told: str) -> None:
    """A power of two: each order of additions and divisions gives the same bits. (One client's weight is 1.) Except in
    one case: there shares in float32 passed, since it holds all of a power of two."""
    total = sum(n for n in CASES[told] if n > 0)
    assert told == "one client" or (total & (total - 1) == 0) == (told != THIRDS)


@pytest.mark.parametrize("case", MASKED_CASES, ids=str)
def test_each_pair_shares_one_secret_that_no_other_rank_has(case: Case) -> None:
    secrets = [inputs(case, rank)[1] for rank in case.members]
    for i, own in enumerate(secrets):
        assert own[i] is None
        assert all(own[j] == secrets[j][i] for j in range(case.size))
    known = sorted(secret for i, own in enumerate(secrets) for secret in own[:i])
    assert all(a != b for a, b in pairwise(known))


def test_a_mask_taken_twice_is_not_each_mask_once() -> None:
    """Twice a number is even: whoever saw the sum of one rank knew whether its value is odd, and it passed."""
    own, mask = torch.tensor([5, 8]), torch.tensor([2**31 + 7, 9])
    assert once_each(own, [(own + mask) % M], [mask], M)
    assert once_each(own, [(own - mask) % M], [mask], M)
    assert not once_each(own, [(own + 2 * mask) % M], [mask], M)
    assert not once_each(own, [own ^ mask], [mask], M)


def test_where_a_sum_of_secrets_is_wrong_it_is_told_before_or_after_the_all_reduce() -> None:
    mask, wanted = torch.tensor([2**32 - 1]), torch.tensor([3])
    assert adds_up([[1 + mask], [2 - mask]], wanted, M) is True
    assert adds_up([[1 + mask], [2 + mask]], wanted, M) is False
    assert adds_up([[mask, mask], [mask]], wanted, M) is None


def test_a_mean_in_another_order_is_right_and_rounding_is_no_float32() -> None:
    """A running mean was refused for 17.749999999999996 in place of 17.75, and told to look for a float32."""
    right = torch.tensor([17.75, -3.0, 12.0], dtype=torch.float64)
    assert FEDERATED.values.examine is not None
    for case in FEDERATED.cases(1, 0):
        (call,) = FEDERATED.inputs(case, 0)
        seen = replace(observed(call), case=case)
        assert FEDERATED.values.examine(seen) is None
    assert changed_tensors([right * (1 - 2**-52)], [right], [None]) is None
    assert (changed_tensors([(right / 3).float().double()], [right / 3], [None]) or ("",))[0] == "single-precision"


def observed(call: tuple[Any, ...]) -> Seen:
    """What a running mean returns."""

    def running(w: torch.Tensor, models: list[Any], examples: list[int]) -> torch.Tensor:
        mean, total = torch.zeros_like(w), 0
        for model, n in zip(models, examples, strict=True):
            if model is not None and n:
                total += n
                mean = mean + (model - mean) * (n / total)
        return mean if total else w.clone()

    assert FEDERATED.run.watch is not None
    return Seen(FEDERATED.cases(1, 0)[0], returned=([FEDERATED.run.watch(running, call)],))
