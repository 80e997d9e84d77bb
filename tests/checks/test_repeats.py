"""Unit 04's checks again and again: the same verdict, the same points, the same findings, every time.

Every reference, and a wrong answer for each way in which a run can end badly, and one that runs to its end and is
wrong: 10 times each, in every .ci/run. ``REPEATS=50`` makes it 50, and for all the wrong answers: hours.
"""

from __future__ import annotations

import ast
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from lockstep import checks
from lockstep.checks import observe
from lockstep.checks.exercise import Exercise
from lockstep.checks.score import Score
from lockstep.forking import starter

REPEATS = int(os.environ.get("REPEATS", "10"))
# A catch is a hundred runs itself: once is enough.
EXERCISES = [e for e in checks.exercises() if e.topic == "communication" and e.kind != "catch"]
EVERYTHING = "REPEATS" in os.environ


def stated(path: Path) -> str:
    """The MISCONCEPTION that a wrong answer states."""
    found = [n for n in ast.parse(path.read_text()).body if isinstance(n, ast.Assign)]
    return next(ast.literal_eval(n.value) for n in found if getattr(n.targets[0], "id", "") == "MISCONCEPTION")


def wrong_answers() -> list[object]:
    """The first for each ending ("crashed:Deadlock", ...), or all."""
    found: dict[str, object] = {}
    for exercise in EXERCISES:
        for path in sorted(exercise.wrong.glob("*.py")):
            ending = stated(path).partition(":")
            key = str(path) if EVERYTHING else "".join(ending) if ending[1] else "wrong"
            found.setdefault(key, pytest.param(exercise, path, id=f"{exercise.function}/{path.stem}"))
    return list(found.values())


def the_same(check: Callable[[], Score]) -> Score:
    first = check()
    for repeat in range(1, REPEATS):
        again = check()
        assert facts(again) == facts(first), f"time {repeat}: {again.text()}\nthe first time: {first.text()}"
    return first


def facts(score: Score) -> tuple[object, ...]:
    return score.verdict, score.points, sorted(f.misconception for f in score.findings)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.function)
def test_a_reference_always_passes(exercise: Exercise) -> None:
    score = the_same(lambda: checks.check_reference(exercise.id))
    assert (score.verdict, score.points) == ("passed", score.maximum), score.text()


@pytest.mark.slow
@pytest.mark.timeout(2400)
@pytest.mark.parametrize(("exercise", "path"), wrong_answers())
def test_a_wrong_answer_always_fails_alike(exercise: Exercise, path: Path) -> None:
    score = the_same(lambda: checks.check_file(exercise.id, path))
    assert stated(path) in [f.misconception for f in score.findings], score.text()


def test_a_cold_start_is_not_the_learners_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first check of a session on a busy machine saw its first case only: the rest of its 20 seconds had gone into
    loading torch. A wrong answer was told another reason than the next time."""
    late = 0.0

    def load(modules: object = ()) -> None:
        nonlocal late
        late = 1000.0

    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + late)
    monkeypatch.setattr(observe, "time", clock)
    monkeypatch.setattr(starter, "warm_up", load)
    exercise = next(e for e in EXERCISES if e.function == "fit_alpha_beta")
    seen = observe.observe_reference(exercise)
    assert late
    assert seen.unseen == ()
