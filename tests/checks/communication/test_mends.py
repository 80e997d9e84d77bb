"""What programs are told that were mended wrongly, and one that never waits."""

from __future__ import annotations

from typing import Any

import pytest
import torch.distributed as dist
from torch import Tensor

from lockstep import checks


def hands_over_and_returns_nothing(first: Tensor, second: Tensor, group: Any = None) -> None:
    for tensor in (first, second):
        if dist.get_world_size(group) > 1 and dist.get_rank(group) == 0:
            dist.send(tensor, group=group, group_dst=1)
        elif dist.get_rank(group) == 1:
            dist.recv(tensor, group=group, group_src=0)


def never_waits(gradient: Tensor, x: Tensor, weights: Tensor, group: Any = None) -> tuple[Tensor, Tensor]:
    dist.all_reduce(gradient, group=group, async_op=True)
    return gradient, x @ weights


@pytest.mark.slow
def test_nothing_is_not_taken_for_the_first_argument_where_two_values_are_wanted() -> None:
    (found,) = checks.check("communication.mend_out_of_order_tags", hands_over_and_returns_nothing).findings
    assert found.misconception == "wrong-type"
    assert "returns nothing (None); (first, second) is wanted" in found.message


@pytest.mark.slow
def test_cases_that_go_wrong_for_want_of_time_are_no_pattern() -> None:
    told = [f.misconception for f in checks.check("communication.overlapped_step", never_waits).findings]
    assert told == ["never-waited", "wrong-values"]
