"""Every known-wrong answer is rejected for the stated reason, every alternative and every reference gets full points.

A mutant is a file in ``tests/mutants/TOPIC/EXERCISE/`` with ``MISCONCEPTION``, the id that a finding must carry; or, as
"crashed:Deadlock", the verdict and the named error. They are judged as a learner's file would be, from their text.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from lockstep import checks
from lockstep.checks.exercise import Exercise

TESTS = Path(__file__).parents[1]
EXERCISES = checks.exercises()

# What measures real threads and processes may be misled by the tests that run beside it: then it is tried again.
TRIES = {"scikit_learn.classify_parallelism": 3}


def files(kind: str) -> list[object]:
    found = [(e, p) for e in EXERCISES for p in sorted((TESTS / kind / e.topic / e.function).glob("*.py"))]
    return [pytest.param(e, p, id=f"{e.function}/{p.stem}") for e, p in found]


def misconception(path: Path) -> str:
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "MISCONCEPTION":
            return ast.literal_eval(node.value)
    raise AssertionError(f"{path} states no MISCONCEPTION")


@pytest.mark.parametrize(("exercise", "path"), files("mutants"))
def test_a_mutant_is_rejected_for_the_stated_reason(exercise: Exercise, path: Path) -> None:
    stated = misconception(path)
    for _ in range(TRIES.get(exercise.id, 1)):
        score = checks.check_file(exercise.id, path)
        if stated in [f.misconception for f in score.findings]:
            break
    told = score.text()
    assert score.verdict in ("wrong", "crashed"), told
    assert score.points < score.maximum, told
    assert stated in [f.misconception for f in score.findings], told
    assert not stated.startswith("crashed:") or score.verdict == "crashed", told


@pytest.mark.parametrize(("exercise", "path"), files("alternatives"))
def test_an_alternative_gets_full_points(exercise: Exercise, path: Path) -> None:
    score = checks.check_file(exercise.id, path)
    assert (score.verdict, score.points) == ("passed", score.maximum), score.text()


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.function)
def test_the_reference_gets_full_points(exercise: Exercise) -> None:
    score = checks.check_reference(exercise.id)
    assert (score.verdict, score.points) == ("passed", score.maximum), score.text()


@pytest.mark.parametrize("exercise", [e for e in EXERCISES if not e.pure], ids=lambda e: e.function)
def test_the_reference_gets_full_points_on_processes(exercise: Exercise) -> None:
    score = checks.check_reference(exercise.id, on="processes")
    assert (score.verdict, score.points) == ("passed", score.maximum), score.text()


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.function)
def test_the_bank_is_large_enough(exercise: Exercise) -> None:
    assert len(list((TESTS.parent / exercise.mutants).glob("*.py"))) >= 5
    assert len(list((TESTS.parent / exercise.alternatives).glob("*.py"))) >= 2
