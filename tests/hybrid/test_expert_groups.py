"""Expert parallelism inside dp x tp: what must hold of any groups."""

from __future__ import annotations

from itertools import product

import pytest

from lockstep.hybrid.expert_groups import fold_experts

SIZES = [s for s in product((1, 2, 3, 4), (1, 2, 4, 6), (1, 2), (1, 2, 3, 4, 8)) if s[0] * s[1] % s[3] == 0]


@pytest.mark.parametrize("each", [1, 3])
def test_each_group_has_all_experts_once_and_copies_have_the_same(each: int) -> None:
    for tp, dp, pp, ep in SIZES:
        found = fold_experts(tp, dp, pp, ep, each * ep)
        assert found is not None
        groups, copies, own = found
        every = list(range(tp * dp * pp))
        assert sorted(r for group in groups for r in group) == sorted(r for group in copies for r in group) == every
        for group in groups:
            assert sorted(e for r in group for e in own[r]) == list(range(each * ep))
        for group in copies:
            assert len(group) == tp * dp // ep
            assert len({tuple(own[r]) for r in group}) == 1
        assert all(len({r // (tp * dp) for r in group}) == 1 for group in [*groups, *copies])  # of one stage
        assert all(len(set(a) & set(b)) <= 1 for a, b in product(groups, copies))


@pytest.mark.parametrize("sizes", [(2, 3, 1, 4, 8), (2, 4, 1, 4, 6), (2, 4, 4, 16, 16)])
def test_what_does_not_divide_is_refused(sizes: tuple[int, int, int, int, int]) -> None:
    assert fold_experts(*sizes) is None
