"""No reference and no right answer has a race: each passes in strict runs, where a race is an error, and NaN is what a
buffer holds before its data has arrived."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from asked import is_asked_for

from lockstep import checks, worlds
from lockstep.checks.exercise import Exercise
from lockstep.events import Outcome
from lockstep.launch.job import Job

ASKED = [e for e in checks.exercises() if is_asked_for(e) and not e.pure and not e.run.require]
RIGHT = [(e, path) for e in ASKED for path in ["", *map(str, sorted(e.right.glob("[!_]*.py")))]]
IDS = [f"{e.id}/{Path(path).stem or 'reference'}" for e, path in RIGHT]


@pytest.fixture
def strictly(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """The jobs that ran strictly."""
    jobs: list[Job] = []
    virtual = worlds.run_virtual

    def strict(job: Job, *rest: Any) -> Outcome:
        jobs.append(replace(job, strict=not job.fake))
        return virtual(jobs[-1], *rest)

    monkeypatch.setattr(worlds, "run_virtual", strict)
    return jobs


@pytest.mark.slow
@pytest.mark.runs("exercise")
@pytest.mark.parametrize(("exercise", "path"), RIGHT, ids=IDS)
def test_what_is_right_has_no_race(exercise: Exercise, path: str, strictly: list[Job]) -> None:
    score = checks.check_file(exercise.id, path, keep=False) if path else checks.check_reference(exercise.id)
    assert score.verdict == "passed", score.text()
    assert any(job.strict for job in strictly)
