"""The two exercises about hiding an all-reduce are arithmetic: whatever the seed, known answers are told what their
files state, right ones pass, and no shortcut finds a good bucket for all steps."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from test_why_parallel import in_this_process, judged  # noqa: F401 (a fixture)

from lockstep.checks import find
from lockstep.checks.exercise import Exercise
from lockstep.checks.known import Known, known_answers
from lockstep.checks.load import load
from lockstep.exercises.all_reduce_sgd.buckets import SHORTCUTS, fine, late, passes

EXERCISES = [find(f"all_reduce_sgd.{function}") for function in ("smallest_batch_that_hides", "bucket_bytes")]
SEEDS = range(3)


def wrong_answers() -> list[object]:
    return [pytest.param(e, k, id=f"{e.function}/{k.name}") for e in EXERCISES for k in known_answers(e)]


def right_answers() -> list[object]:
    found = [(e, path) for e in EXERCISES for path in sorted(e.right.glob("*.py"))]
    return [pytest.param(e, path, id=f"{e.function}/{path.stem}") for e, path in found]


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("exercise", "known"), wrong_answers())
def test_a_wrong_answer_is_told_what_its_file_states_whatever_the_seed(exercise: Exercise, known: Known) -> None:
    for seed in SEEDS:
        found = judged(exercise, known.load(exercise.function), seed)
        assert [f.misconception for f in found[:1]] == [known.misconception], (seed, found)
        assert 0 < sum(f.points for f in found) <= exercise.points


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("exercise", "path"), right_answers())
def test_a_right_answer_passes_whatever_the_seed(exercise: Exercise, path: Path) -> None:
    for seed in SEEDS:
        assert judged(exercise, load(path, exercise.function), seed) == []


@pytest.mark.slow
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.function)
def test_the_reference_passes_whatever_the_seed(exercise: Exercise) -> None:
    for seed in range(12):
        assert judged(exercise, exercise.reference_function(), seed, ()) == []


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.function)
@pytest.mark.parametrize("odd", [None, "9", True, [1], 1j, math.nan, -math.inf, -1, 0, 10**400, torch.ones(3)], ids=str)
def test_nothing_that_is_returned_breaks_a_judge(exercise: Exercise, odd: object) -> None:
    found = judged(exercise, lambda *call: odd, 0)
    assert found
    assert 0 < found[0].points <= exercise.points


def test_rounding_by_a_half_was_right_where_all_batches_were_even() -> None:
    """round(x + 0.5) passed with one seed in sixteen: the four batches that fit exactly are odd and even now."""
    batches = EXERCISES[0]
    exact = next(case for case in batches.cases(1, 0) if "exactly" in str(case))
    for seed in SEEDS:
        case = next(case for case in batches.cases(1, seed) if str(case) == str(exact))
        assert [answer % 2 for answer in batches.values.wanted(case)] == [1, 0, 1, 0]


@pytest.mark.slow
def test_for_each_shortcut_there_is_a_step_on_which_it_is_late_and_a_fine_sweep_is_not() -> None:
    for seed in SEEDS:
        for one, shortcut in zip(passes(seed), SHORTCUTS, strict=True):
            assert late(one, shortcut) > 1.04
            assert late(one, fine) < 1.01
