"""``lockstep grade``, and nbgrader's own next step: feedback goes back to whoever has handed in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.utils import notebook_hash

from lockstep.bench.grade import FIRST as LAB
from lockstep.bench.grade import made
from lockstep.grading.grade_class import Grader, Options
from lockstep.grading.grade_submission import Result
from lockstep.grading.run_summary import run_summary
from lockstep.grading.submission import GRADED, WRONG_FORMAT

pytestmark = [pytest.mark.xdist_group("graded and released"), pytest.mark.timeout(300)]

ADA, BOB = "student00", "student01"
WHEN = "2026-11-26 07:00:00.000000 UTC"


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("LOCKSTEP_HOME", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR", "NBGRADER_EXCHANGE"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    (tmp_path / "nbgrader_exchange").mkdir()
    course = made(tmp_path / "course", LAB, 2)
    for student in (ADA, BOB):
        of_nbgrader = course / "grading" / "submitted" / student / LAB
        (of_nbgrader / "timestamp.txt").write_text(WHEN)
        (of_nbgrader / "submission_secret.txt").write_text(f"secret{student}")
    return course


def grade(course: Path) -> dict[str, str]:
    return {name: one.status for name, one in run(course)[1].items()}


def run(course: Path) -> tuple[Grader, dict[str, Result]]:
    grader = Grader(LAB, Options(jobs=1, students=(), again=False, own_seeds=False, sandbox=""), course)
    return grader, grader.run(lambda *_: None)


def release(course: Path) -> list[Path]:
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", "release_feedback", LAB],
        cwd=course, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return sorted((Path(os.environ["NBGRADER_EXCHANGE"]) / "lockstep" / "feedback").glob("*.html"))


def test_feedback_is_released_and_an_unreadable_second_hand_in_takes_the_grade_back(course: Path) -> None:
    """nbgrader looks for two files beside the page, which were not there: a traceback, and no feedback for anybody."""
    assert grade(course) == {ADA: GRADED, BOB: GRADED}
    assert len(release(course)) == 2
    (course / "grading" / "submitted" / BOB / LAB / "lab.ipynb").write_text("oops")
    assert grade(course) == {ADA: GRADED, BOB: WRONG_FORMAT}
    assert len(release(course)) == 2, "the page that says what to do, too"
    with Gradebook(f"sqlite:///{course / 'grading' / 'gradebook.db'}") as book:
        assert book.find_submission(LAB, ADA).score == 10
        with pytest.raises(MissingEntry):
            book.find_submission(LAB, BOB)
    assert not (course / "grading" / "autograded" / BOB / LAB).exists()
    table = (course / "grading" / f"{LAB}.csv").read_text()
    assert f"{BOB},{WRONG_FORMAT},," in table


@pytest.mark.slow
def test_a_hand_in_without_its_secret_stops_nobody_elses_feedback(course: Path) -> None:
    """What came by mail has no submission_secret.txt: nbgrader ended in a traceback, and some had their feedback."""
    for name in ("timestamp.txt", "submission_secret.txt"):
        (course / "grading" / "submitted" / ADA / LAB / name).unlink()
    grader, results = run(course)
    pages = release(course)
    assert len(pages) == 2
    assert notebook_hash(secret=f"secret{BOB}", notebook_id="lab") in {p.stem for p in pages}
    (line,) = run_summary(results, grader.class_list, grader.unwritten, grader.untold, grader.late)
    assert line.startswith(f"{ADA}: the feedback is in grading/feedback/STUDENT/{LAB}/lab.html, for you to send.")
    assert grade(course) == {ADA: GRADED, BOB: GRADED}, "a second run changes nothing"
    assert release(course) == pages
