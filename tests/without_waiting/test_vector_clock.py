"""What the clocks of w tell of a parameter server: who began too early, with an old w, or waited without need."""

from __future__ import annotations

import math
from random import Random

import pytest
import torch

from lockstep.exercises.without_waiting.server_traces import served
from lockstep.exercises.without_waiting.vector_clock import Counting, Facts, Step, after, of_ranks, of_steps, updates
from lockstep.without_waiting.parameter_server import staleness_of

PAUSE = 0.5


def facts(workers: list[list[Step]], step: tuple[int, int], other: int, bound: int = 1, pause: float = PAUSE) -> Facts:
    found = of_steps(workers, bound, pause)
    return next(e for e in found if (e["who"], e["step"], e["other"]) == (*step, other))


# Worker 1 takes no time, worker 2 a second, worker 3 four; bound=1. Worker 1 has done two steps, and waits for both.
FAST = [Step(0, 0, 0, [0, 0, 0]), Step(1, 0, 0, [1, 0, 0])]
MEDIUM = [Step(0, 0, 1, [0, 0, 0]), Step(1, 1, 2, [2, 1, 0])]
SLOW = [Step(0, 0, 4, [0, 0, 0]), Step(1, 4, 8, [2, 2, 1])]


def test_who_begins_when_the_bound_lets_it_is_told_nothing() -> None:
    workers = [[*FAST, Step(2, 4, 4, [2, 2, 1])], MEDIUM, SLOW]
    for e in of_steps(workers, 1, PAUSE):
        assert e["needed"] <= e["done"] >= e["made"], e
        assert not e["late"], e


def test_a_w_with_fewer_updates_than_one_that_left_long_before_is_old() -> None:
    """Worker 2 began at 1 s with one update of its own; worker 1 at 4 s with none, in the w that was kept for it."""
    workers = [[*FAST, Step(2, 4, 4, [2, 0, 1])], MEDIUM, SLOW]
    found = facts(workers, (1, 2), other=2)
    assert (found["done"], found["made"]) == (0, 1)
    assert facts(workers, (1, 2), other=2, pause=math.inf)["made"] == 0  # where clocks say nothing


def test_a_step_that_waits_for_an_update_that_it_does_not_need_waits_without_need() -> None:
    """Worker 2 could go on after 1 s, and goes on when worker 3 has done a step, after 4 s."""
    workers = [[*FAST, Step(2, 4, 4, [2, 1, 1])], [MEDIUM[0], Step(1, 4, 5, [2, 1, 1])], SLOW]
    assert facts(workers, (2, 1), other=3)["late"]
    assert not facts(workers, (2, 1), other=1)["late"]
    assert not facts(workers, (1, 2), other=3)["late"]  # that one had to
    assert not facts(workers, (2, 1), other=3, pause=math.inf)["late"]


def test_nobody_needs_more_steps_of_a_worker_than_it_makes() -> None:
    workers = [[Step(step, step, step, [step, 1]) for step in range(5)], [Step(0, 0, 0, [0, 0])]]
    assert [e["needed"] for e in of_steps(workers, 0, PAUSE) if e["who"] == 1 and e["other"] == 2] == [0, 1, 1, 1, 1]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradients_count_in_w(dtype: torch.dtype) -> None:
    w = start = torch.full((2, 3), 7.25, dtype=dtype)
    first, second = (Counting(start, 0.5, who) for who in (1, 2))
    for step in range(3):
        w = w - 0.5 * first(w, step)
    w = w - 0.5 * second(w, 0)
    assert updates(start, w, 0.5) == [3, 1]
    assert torch.equal(w, after(start, [3, 1], 0.5))
    assert [step.clock for step in second.asked] == [[3, 0]]
    assert updates(start, w * math.nan, 0.5) == [-1, -1]


def test_a_server_that_computes_is_seen() -> None:
    server, worker = of_ranks([FAST[:1], FAST], [2], [2.0])
    assert (server["who"], server["asked"]) == (0, [0])
    assert worker["asked"] == worker["steps"] == [0, 1]
    assert worker["number"] == worker["have"] == 2


def test_the_traces_that_are_drawn_keep_the_bound() -> None:
    """In lockstep nobody's gradient misses more than the others of its own step."""
    for seed in range(20):
        assert staleness_of(served(Random(seed), [4, 4, 4], 5.0, 0, 0, 0)) == {0: 4, 1: 4, 2: 4}


def test_a_w_in_another_dtype_is_not_counted_but_told() -> None:
    """A w sent as float32 read as 17 updates that nobody had made."""
    start = torch.full((2, 3), 2.0**40, dtype=torch.float64) + 0.25
    clock = Counting(start, 0.5, who=1)
    clock(start, 0)
    clock(start.float().double(), 1)
    assert [step.intact for step in clock.asked] == [True, False]
