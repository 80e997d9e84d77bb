"""Answers that earn points by something else than what is asked, a file each, graded as `lockstep grade` grades them.

A file's first comments say its ``exercise``, its ``points``, and what is ``told``: to the learner by a finding, or to
the teacher by a note. ``before``: what it earned when it was first tried. In a sandbox none has full points of which
no teacher is told.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hostile_class import expected

from lockstep.errors import WorldUnavailable
from lockstep.grading import grade_submission
from lockstep.grading.grade_submission import Judged, Task
from lockstep.grading.sandbox import FORK
from lockstep.grading.sandbox_check import kind_of_sandbox

FILES = {p.stem: p for p in sorted((Path(__file__).parent / "cheats").glob("*.py"))}
CHEAP = ("guard_reopened", "prints_its_secrets")
SECRET = "of this class"  # by which the right programs do not happen to come first
pytestmark = [pytest.mark.xdist_group("hostile"), pytest.mark.timeout(600)]


@pytest.fixture(scope="module", autouse=True)
def _sandboxes():
    try:
        kind_of_sandbox(FORK)
    except WorldUnavailable as error:
        pytest.skip(str(error))


def graded(name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Judged, list[str]]:
    """What becomes of it in a sandbox; and its notes, which a teacher reads in the class's table."""
    monkeypatch.setenv("LOCKSTEP_SEED", SECRET)
    topic, _, function = expected(FILES[name].read_text(), "exercise", "").partition(".")
    task = Task("mallory", FILES[name].parent, {"cells": []}, topic, SECRET, False, (), FORK)
    judged = grade_submission.of_exercise(function, FILES[name], task)
    return judged, grade_submission._status("graded", {function: judged})[1]


def judge(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = FILES[name].read_text()
    judged, notes = graded(name, monkeypatch)
    findings, points = [f["message"] for f in judged.score["findings"]], judged.score["points"]
    assert f"{points:g} of {judged.score['maximum']}" == expected(text, "points", ""), findings
    assert expected(text, "told", "") in " ".join([*findings, *notes])
    assert points < judged.score["maximum"] or notes


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", CHEAP)
def test_a_cheap_cheat_is_told(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    judge(name, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in FILES if n not in CHEAP])
def test_a_cheat_is_told(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    judge(name, monkeypatch)
