"""Answers that win by something else than what is asked, a file each, graded as `lockstep grade` grades them.

A file's first comments say its ``exercise``, its ``points``, and what is ``told``: to the learner in a finding, or to
the teacher in a note."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hostile_class import expected

from lockstep.grading import judging
from lockstep.grading.judging import Judged, Task
from lockstep.grading.sandbox import FORK
from lockstep.grading.sandbox_check import kind_of_sandbox
from lockstep.launch import server

FILES = {p.stem: p for p in sorted((Path(__file__).parent / "cheats").glob("*.py"))}
CHEAP = ("guard_reopened", "prints_its_secrets")
pytestmark = [pytest.mark.xdist_group("hostile"), pytest.mark.timeout(600)]


def graded(name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Judged, list[str]]:
    """What becomes of it in a sandbox; and the notes of it, that a teacher reads in the class's table."""
    kind_of_sandbox(FORK)
    monkeypatch.setenv("LOCKSTEP_SEED", "a secret")
    topic, _, function = expected(FILES[name].read_text(), "exercise", "").partition(".")
    task = Task("mallory", FILES[name].parent, {"cells": []}, topic, "a secret", False, (), FORK)
    judged = judging.of_exercise(function, FILES[name], task)
    return judged, judging._status("graded", {function: judged})[1]


def judge(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = FILES[name].read_text()
    judged, notes = graded(name, monkeypatch)
    findings = [f["message"] for f in judged.score["findings"]]
    assert judged.score["points"] == float(expected(text, "points", "")), findings
    assert expected(text, "told", "") in " ".join([*findings, *notes])


if __name__ == "__main__":
    import sys

    server.begin()
    with pytest.MonkeyPatch.context() as patch:
        for name in sys.argv[1:] or FILES:
            judged, notes = graded(name, patch)
            print(
                name,
                judged.score["points"],
                "of",
                judged.score["maximum"],
                judged.score["findings"],
                notes,
                judged.ended,
                flush=True,
            )
