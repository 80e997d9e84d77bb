"""The score is a number for nbgrader, feedback for a learner, and never anything that nbgrader would take amiss."""

from __future__ import annotations

import copy
import html
import json
import math
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from IPython.core.formatters import DisplayFormatter
from kernels import settings
from nbclient.exceptions import DeadKernelError
from nbformat.v4 import new_code_cell, new_notebook, new_output
from nbgrader.preprocessors import Execute
from nbgrader.utils import determine_grade

from lockstep.checks import Finding, Score, exercises, find
from lockstep.checks.observation import Failure, Observation, Seen
from lockstep.checks.score import page
from lockstep.checks.ungraded import settle
from lockstep.checks.verdict import score_of
from lockstep.errors import RankState
from lockstep.events import Event, Trace

TRACE = Trace.of([Event(0, "send", 0.0, 1e-6, 8, 1), Event(1, "recv", 0.0, 1e-6, 8, 0)], 2, "virtual")
PARTLY = Score("communication.x", 2.5, 5, "wrong", [Finding("Too <many> bytes.\n  rank 0 & 1", "x", 2.5)], TRACE)


def grade_cell(points: float, *outputs: nbformat.NotebookNode) -> nbformat.NotebookNode:
    about = {"grade": True, "solution": False, "locked": True, "task": False, "grade_id": "a", "schema_version": 3}
    return new_code_cell("check()", outputs=list(outputs), metadata={"nbgrader": {**about, "points": points}})


@pytest.mark.parametrize(("points", "shown"), [(2.5, "2.5"), (4.0, "4"), (0.0, "0"), (1 / 3, "0.333333")])
def test_text_is_the_number_that_nbgrader_reads(points: float, shown: str) -> None:
    score = Score("communication.x", points, 5, "wrong")
    bundle, _ = DisplayFormatter().format(score)
    assert bundle["text/plain"] == repr(score) == str(score) == shown
    assert determine_grade(grade_cell(5, new_output("execute_result", bundle))) == (float(shown), 5.0)


@pytest.mark.parametrize(
    ("points", "clamped"), [(math.nan, 0), (math.inf, 0), (-math.inf, 0), (-3, 0), (7, 5), (5.0000001, 5)]
)
def test_a_score_is_finite_and_within_its_bounds(points: float, clamped: float) -> None:
    assert Score("communication.x", points, 5, "wrong") == clamped


def test_a_score_is_a_number_with_properties() -> None:
    assert PARTLY + 1 == 3.5
    assert (PARTLY.points, PARTLY.maximum, PARTLY.verdict, PARTLY.passed) == (2.5, 5, "wrong", False)
    again = copy.deepcopy(PARTLY)
    assert again.to_json() == PARTLY.to_json()


def test_json_is_the_published_form() -> None:
    assert json.loads(json.dumps(PARTLY.to_json())) == {
        "points": 2.5,
        "maximum": 5,
        "verdict": "wrong",
        "findings": [{"message": "Too <many> bytes.\n  rank 0 & 1", "misconception": "x", "points": 2.5}],
    }


def test_the_page_shows_feedback_and_the_timeline() -> None:
    page = PARTLY._repr_mimebundle_()["text/html"]
    assert "Partly right. 2.5 of 5 points" in page
    assert "Too &lt;many&gt; bytes." in page
    assert "rank 0 &amp; 1" in page
    assert 'alt="Timeline: ' in page
    assert "live(render, " in page


def test_a_figure_that_is_not_there_is_not_spoken_of() -> None:
    """A call that raised had no figure, and still: "The figure shows your run with p = 0.85."."""
    told = "The figure shows your run with p = 0.85."
    raised = Score("why_parallel.x", 0, 5, "crashed", case="p = 0.85")
    assert told not in raised._repr_mimebundle_()["text/html"]
    drawn = Score("why_parallel.x", 0, 5, "wrong", case="p = 0.85", picture="<svg><title>Curves</title></svg>")
    assert told in drawn._repr_mimebundle_()["text/html"]


def test_the_page_of_a_deadlock_draws_the_circle_of_waits() -> None:
    """A deadlock at the first send has a timeline of no length: the picture that helps is who waits for whom."""
    states = [RankState(r, "waiting", f"send(dst={1 - r})", "Cell In[4], line 5", waits_for=(1 - r,)) for r in (0, 1)]
    page = Score("communication.x", 0, 5, "crashed", states=states)._repr_mimebundle_()["text/html"]
    assert "The circle of waits" in page
    assert "Cell In[4], line 5" in page


def test_the_text_is_for_a_terminal() -> None:
    told = PARTLY.text().splitlines()
    assert told[0] == "communication.x: Partly right. 2.5 of 5 points"
    assert max(map(len, told)) <= 100


def test_a_learner_is_told_when_a_check_is_ungraded(monkeypatch: pytest.MonkeyPatch) -> None:
    score = Score("communication.x", 0, 5, "ungraded", [Finding("No loopback.")])
    assert settle(score) is score
    assert "it costs no points" in score._repr_mimebundle_()["text/html"]
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    with pytest.raises(Exception, match="No loopback"):
        settle(score)


UNGRADED = """
from lockstep.checks import Finding, Score
from lockstep.checks.ungraded import settle
settle(Score("communication.x", 0, 5, "ungraded", [Finding("No loopback here.")]))
"""


@pytest.mark.slow
def test_under_autograde_an_ungraded_check_fails_the_submission(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    notebook = new_notebook(
        cells=[new_code_cell(UNGRADED)], metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    )
    with pytest.raises(DeadKernelError):
        Execute(timeout=60, config=settings()).preprocess(notebook, {})


@pytest.mark.slow
def test_the_reason_is_told_where_nbgrader_was_started(tmp_path: Path) -> None:
    environment = {**os.environ, "NBGRADER_EXECUTION": "autograde"}
    ended = subprocess.run([sys.executable, "-c", UNGRADED], env=environment, capture_output=True, text=True)
    assert ended.returncode == 70
    assert "No loopback here." in ended.stderr


def test_a_pass_says_where_to_go_on() -> None:
    """ "Right. 5 of 5 points" was all that a learner read, at the end of each exercise."""
    lab = [e for e in exercises() if e.topic == "why_parallel"]
    for mine, after in pairwise(lab):
        told = page(Score(mine.id, mine.points, mine.points, "passed"))
        assert f"Next comes exercise {after.number}" in told
        assert html.escape(after.title) in told
    assert "last exercise of this lab" in page(Score(lab[-1].id, 1, 1, "passed"))
    assert "Next comes" not in page(Score(lab[0].id, 0, 1, "wrong"))
    assert "Next comes" not in page(Score("sample.nowhere", 1, 1, "passed"))


def test_no_figure_is_announced_where_none_is_drawn() -> None:
    """ "The figure shows your run with p = 0.85.", read a learner whose function had raised. There was none."""
    amdahl = find("why_parallel.amdahl")
    case = amdahl.cases(1, 0)[1]
    raised = Failure("RankRaised", "amdahl(0.85, 2) raised ValueError: no", exception="ValueError", text="no")
    score = score_of(amdahl, Observation(amdahl.id, "virtual", seen=(Seen(case, failure=raised),)))
    assert "figure" not in page(score)
    right = [[amdahl.reference_function()(*call) for call in amdahl.inputs(case, 0)]]
    drawn = score_of(amdahl, Observation(amdahl.id, "virtual", seen=(Seen(case, returned=right),)))
    assert f"The figure shows your run with {case}." in page(drawn)
    assert "ls-still" in page(drawn)
