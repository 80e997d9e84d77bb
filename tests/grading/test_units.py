"""Every unit as it is committed: its lab and its lesson run, closed and with everything open."""

from __future__ import annotations

import json

import nbformat
import pytest
from executed import RESET, client, executed, go_on, points, surroundings
from nbformat.v4 import new_code_cell, new_notebook

from lockstep.grading.course import UNITS, root
from lockstep.lessons.behind import load

LABS = [u for u in UNITS if (root() / "course" / u.folder / "lab.py").exists()]
LESSONS = [u for u in UNITS if (root() / "course" / u.folder / "lesson.py").exists()]
ACTING = [u for u in LESSONS if "lessons.begin(" in (root() / u.lesson).read_text()]
pytestmark = pytest.mark.timeout(900)
OPENED = f"%cd -q {{}}\n{RESET}\nimport os\nos.environ['LOCKSTEP_OPEN'] = 'all'"
learner = pytest.fixture(surroundings)
named = {"ids": lambda unit: unit.folder}


@pytest.mark.runs("unit")
@pytest.mark.parametrize("unit", LABS, **named)
def test_a_unit_runs(unit, learner):
    """In one kernel, since to start one takes as long as a lab's checks: the lab untouched, all answers from the first
    one on, and then the lesson with everything open."""
    lab, solution, lesson = (
        nbformat.read(root() / path, as_version=4).cells for path in (unit.lab, unit.solution, unit.lesson)
    )
    first = next(at for at, (a, b) in enumerate(zip(lab, solution, strict=False)) if a.source != b.source)
    kernel = client(new_notebook(), (root() / unit.lab).parent, stop_at_errors=False)
    with kernel.setup_kernel():
        untouched = points(go_on(kernel, lab, stop_at_errors=False))
        solved = points(go_on(kernel, solution[first:], stop_at_errors=True))
        seen = go_on(
            kernel, [new_code_cell(OPENED.format((root() / unit.lesson).parent)), *lesson], stop_at_errors=True
        )
    assert untouched.keys() == solved.keys() != set()
    assert {name: score for name, (score, _) in untouched.items() if score != 0} == {}
    assert {name: score for name, (score, most) in solved.items() if score != most} == {}
    read = json.dumps(seen, ensure_ascii=False)
    assert "by itself" not in read
    assert "Not written yet" not in read


def test_every_lesson_lets_the_learner_act():
    """So each is run below, closed and with everything open."""
    assert ACTING == LESSONS


@pytest.mark.slow
@pytest.mark.parametrize("unit", ACTING, **named)
def test_a_lesson_that_nobody_has_opened_runs_and_tells_nothing_that_is_behind(unit, learner):
    nb = executed(root() / unit.lesson)
    seen = json.dumps(nb.cells, ensure_ascii=False)
    behind = load(unit.topic)
    hidden = behind.sentences()
    assert len(hidden) > (10 if behind.turns else 1)
    assert [line for line in hidden if json.dumps(line, ensure_ascii=False)[1:-1] in seen] == []


@pytest.mark.slow
@pytest.mark.parametrize("unit", ACTING, **named)
def test_with_everything_open_all_of_it_runs(unit, learner, monkeypatch):
    monkeypatch.setenv("LOCKSTEP_OPEN", "all")
    seen = json.dumps(executed(root() / unit.lesson).cells, ensure_ascii=False)
    assert "by itself" not in seen
    assert "Not written yet" not in seen


@pytest.mark.slow
@pytest.mark.parametrize("unit", [u for u in ACTING if (root() / u.lesson).with_name("more.ipynb").exists()], **named)
def test_what_more_there_is_of_a_lesson_runs(unit, learner, monkeypatch):
    monkeypatch.setenv("LOCKSTEP_OPEN", "all")
    assert executed((root() / unit.lesson).with_name("more.ipynb")).cells


def test_the_front_page_runs_and_shows_the_map(learner):
    nb = executed(root() / "course" / "index.ipynb")
    (shown,) = (o for c in nb.cells if c.cell_type == "code" for o in c.outputs)
    assert "../course/00_why_parallel/lesson.ipynb" in shown.data["text/html"]
    assert UNITS[0].title in shown.data["text/plain"]
