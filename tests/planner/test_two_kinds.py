"""A pipeline on GPUs of two kinds, by formula."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from lockstep.errors import UsageError
from lockstep.planner import clusters, models, stacks
from lockstep.planner.plans import Job, Plan
from lockstep.planner.step import estimate
from lockstep.planner.two_kinds import Pace, across, layout_by_speed, pace, shares_by_speed

STACK = stacks.STACKS["fused"]
PLAN = Plan(tp=8, pp=12, zero=1, recompute="full")
JOB = Job(models.find("gpt3"), clusters.find("dgx-a100 x 12"), 24)
SLOW, FAST = Pace(2.0, 0.5, 1.0), Pace(1.0, 0.25, 0.5)


def test_equal_stages_take_what_the_planner_says() -> None:
    """Its output layer is on the last stage, whose first micro-batch the others do not wait for."""
    one, wanted = pace(JOB, PLAN, STACK), estimate(JOB, PLAN, STACK).step_time
    assert across([one] * 12, [8] * 12, 24) == pytest.approx(wanted, rel=1e-9)
    h100 = pace(replace(JOB, cluster=clusters.find("dgx-h100 x 12")), PLAN, STACK)
    assert 1.5 < one.layer / h100.layer < 4


def test_the_slowest_stage_sets_the_pace() -> None:
    assert across([SLOW, FAST], [4, 4], 10) == 9 * 8.0 + (8.0 + 4.25) + 1.0
    assert across([FAST, SLOW], [4, 4], 10) == 9 * 8.5 + (4.0 + 8.5) + 1.0


@pytest.mark.parametrize("kinds", [[SLOW, FAST], [FAST, SLOW, SLOW], [SLOW, SLOW, FAST, FAST]])
def test_no_other_layout_has_a_faster_slowest_stage(kinds: list[Pace]) -> None:
    layers = 11

    def slowest(layout: tuple[int, ...]) -> float:
        times = [kind.layer * n for kind, n in zip(kinds, layout, strict=True)]
        return max(*times[:-1], times[-1] + kinds[-1].output)

    found = layout_by_speed(kinds, layers)
    assert sum(found) == layers
    every = (c for c in product(range(1, layers), repeat=len(kinds)) if sum(c) == layers)
    assert slowest(found) == min(map(slowest, every))


def test_micro_batches_go_by_speed() -> None:
    assert shares_by_speed([2.0, 1.0], 1, 24) == (8, 16)
    assert shares_by_speed([2.0, 1.0], 6, 24) == (6, 18), "the slow one also takes longer to fill: (6 + 5)·2 < 18 + 5"
    assert shares_by_speed([1.0, 1.0], 4, 5) == (3, 2)


def test_too_little_to_share_is_refused() -> None:
    with pytest.raises(UsageError, match="2 layers are too few for 3 stages"):
        layout_by_speed([SLOW] * 3, 2)
    with pytest.raises(UsageError, match="2 micro-batches are too few"):
        shares_by_speed([1.0] * 3, 1, 2)
    with pytest.raises(UsageError, match="1 stages have no 2 parts"):
        across([SLOW], [1, 2], 3)
