"""Every unit as it is committed: its lab and its lesson run, closed and with everything open."""

from __future__ import annotations

import json
import math
import re

import nbformat
import pytest
from executed import RESET, client, executed, go_on, points, surroundings
from nbformat.v4 import new_code_cell, new_notebook

from lockstep.grading.course import UNITS, root
from lockstep.grading.lesson_parts import arguments, mark
from lockstep.grading.text_notebook import read
from lockstep.lessons.behind import load

LABS = [u for u in UNITS if (root() / "course" / u.folder / "lab.py").exists()]
LESSONS = [u for u in UNITS if (root() / "course" / u.folder / "lesson.py").exists()]
ACTING = [u for u in LESSONS if "lessons.begin(" in (root() / u.lesson).read_text()]
# Most take 10 to 30 CPU seconds, five minutes in all: `make test` runs two.
CHEAP = [u for u in LESSONS if u.topic in ("gpu", "bottlenecks")]
DEAR = [pytest.param(u, marks=pytest.mark.slow) for u in LESSONS if u not in CHEAP]
pytestmark = pytest.mark.timeout(900)
OPENED = f"%cd -q {{}}\n{RESET}\nimport os\nos.environ['LOCKSTEP_OPEN'] = 'all'"
learner = pytest.fixture(surroundings)
named = {"ids": lambda unit: unit.folder}


@pytest.mark.slow
@pytest.mark.runs("unit")
@pytest.mark.parametrize("unit", LABS, **named)
def test_a_lab_runs(unit, learner):
    """Untouched, then with all answers from the first one on. What the answers are judged by, `make test` tries for
    each exercise alone."""
    lab, solution = (nbformat.read(root() / path, as_version=4).cells for path in (unit.lab, unit.solution))
    first = next(at for at, (a, b) in enumerate(zip(lab, solution, strict=False)) if a.source != b.source)
    kernel = client(new_notebook(), (root() / unit.lab).parent, stop_at_errors=False)
    with kernel.setup_kernel():
        untouched = points(go_on(kernel, lab, stop_at_errors=False))
        solved = points(go_on(kernel, solution[first:], stop_at_errors=True))
    assert untouched.keys() == solved.keys() != set()
    assert {name: score for name, (score, _) in untouched.items() if score != 0} == {}
    assert {name: score for name, (score, most) in solved.items() if score != most} == {}


@pytest.mark.runs("unit")
@pytest.mark.parametrize("unit", [*CHEAP, *DEAR], **named)
def test_a_lesson_runs_with_everything_open(unit, learner):
    lesson = nbformat.read(root() / unit.lesson, as_version=4).cells
    kernel = client(new_notebook(), (root() / unit.lesson).parent, stop_at_errors=False)
    with kernel.setup_kernel():
        seen = go_on(
            kernel, [new_code_cell(OPENED.format((root() / unit.lesson).parent)), *lesson], stop_at_errors=True
        )
    told = json.dumps(seen, ensure_ascii=False)
    left = [words for words in ("runs by itself", "Not written yet") if words in told]
    assert not left  # not of the text itself: pytest would compare megabytes for an hour
    stated, found = stated_answers(unit), simulated_numbers(seen)
    assert stated.keys() - found.keys() == set()
    assert {name: (answer, found[name]) for name, answer in stated.items() if not agree(answer, found[name])} == {}


def stated_answers(unit) -> dict[str, float]:
    """By the name of its prediction each `answer=` that the lesson's source hides."""
    cells = read(root() / "course" / unit.folder / "lesson.py")
    calls = [arguments(cell.source) for cell in cells if mark(cell).kind == "predict"]
    return {str(given["0"]): float(str(given["answer"])) for given in calls if "answer" in given}


def simulated_numbers(cells) -> dict[str, float]:
    """By the name of its prediction what each reconciliation shows as simulated, with everything open."""
    found = {}
    for cell in cells:
        names = re.findall(r'reconcile\("(\w[\w-]*)"', cell.source)
        shown = re.findall(r" simulated ([-+\d.,e]*\d)", json.dumps(cell.get("outputs", []), ensure_ascii=False))
        found |= {name: float(number.replace(",", "")) for name, number in zip(names, shown, strict=False)}
    return found


def agree(stated: float, simulated: float) -> bool:
    """The same, but for rounding and for what messages add to a calculation: 5.95 and 6.01 hours."""
    return math.isclose(stated, simulated, rel_tol=0.02)


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
@pytest.mark.parametrize("unit", [u for u in ACTING if (root() / u.lesson).with_name("more.ipynb").exists()], **named)
def test_what_more_there_is_of_a_lesson_runs(unit, learner, monkeypatch):
    monkeypatch.setenv("LOCKSTEP_OPEN", "all")
    assert executed((root() / unit.lesson).with_name("more.ipynb")).cells


def test_the_front_page_runs_and_shows_the_map(learner):
    nb = executed(root() / "course" / "index.ipynb")
    (shown,) = (o for c in nb.cells if c.cell_type == "code" for o in c.outputs)
    assert "../course/00_why_parallel/lesson.ipynb" in shown.data["text/html"]
    assert UNITS[0].title in shown.data["text/plain"]
