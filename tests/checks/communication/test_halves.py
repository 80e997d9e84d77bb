"""The judge of halving and doubling knows what ranks would hold under each idea of who keeps which half."""

from __future__ import annotations

import pytest
import torch

from lockstep.checks.communication.halving_doubling import SAME_HALF, as_if


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_with_the_right_rule_it_is_the_sum(ranks: int) -> None:
    own = [torch.randint(-8, 9, (3, ranks + 1), generator=torch.Generator().manual_seed(r)) for r in range(ranks)]
    for right in (lambda r, d, K: not r & d, lambda r, d, K: bool(r & d)):
        held = as_if(own, right)
        assert held is not None
        assert all(torch.equal(h, sum(own)) for h in held)


def test_partners_that_keep_the_same_half_never_hold_the_sum() -> None:
    own = [torch.arange(8.0) + 10 * r for r in range(4)]
    for rule in SAME_HALF:
        held = as_if(own, rule)
        assert held is not None
        assert not any(torch.equal(h, sum(own)) for h in held)


def test_halves_that_do_not_fit_are_no_answer() -> None:
    assert as_if([torch.ones(3), torch.ones(3)], lambda r, d, K: True) is None
