"""Every unit as it is committed: its notebooks run, its solution has full marks, its untouched lab has none."""

from __future__ import annotations

import json
import os
from pathlib import Path

import nbformat
import pytest
from classroom import PACKAGE
from kernels import settings
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.utils import determine_grade, is_grade

from lockstep.grading.course import UNITS, root
from lockstep.grading.rules import BEGIN, END
from lockstep.grading.source import read
from lockstep.lessons.behind import load

LABS = [u for u in UNITS if (root() / "course" / u.folder / "lab.py").exists()]
LESSONS = [u for u in UNITS if (root() / "course" / u.folder / "lesson.py").exists()]
ACTING = [u for u in LESSONS if "lessons.begin(" in (root() / u.lesson).read_text()]
pytestmark = pytest.mark.timeout(900)
RESET = "%reset -f\n__spec__ = None"  # %reset takes it away, and multiprocessing asks for it
OPENED = f"%cd -q {{}}\n{RESET}\nimport os\nos.environ['LOCKSTEP_OPEN'] = 'all'"
named = {"ids": lambda unit: unit.folder}


@pytest.fixture
def learner(tmp_path, monkeypatch) -> Path:
    """A kernel's surroundings: this package, and a home without any progress."""
    path = os.pathsep.join(filter(None, [str(PACKAGE), os.environ.get("PYTHONPATH")]))
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path))
    monkeypatch.delenv("LOCKSTEP_SEED", raising=False)
    return tmp_path


def executed(path: Path):
    """Run All, which stops at errors."""
    return execute(nbformat.read(path, as_version=4), path.parent, stop_at_errors=True)


def execute(nb, folder: Path, stop_at_errors: bool):
    client(nb, folder, stop_at_errors).execute()
    return nb


def client(nb, folder: Path, stop_at_errors: bool) -> NotebookClient:
    where = {"metadata": {"path": str(folder)}}
    return NotebookClient(
        nb, timeout=280, kernel_name="python3", allow_errors=not stop_at_errors, resources=where, config=settings()
    )


def go_on(kernel: NotebookClient, cells, stop_at_errors: bool):
    """Run these cells, too, in a kernel that has run others."""
    kernel.nb, kernel.allow_errors = new_notebook(cells=cells), not stop_at_errors
    for index, cell in enumerate(cells):
        kernel.execute_cell(cell, index)
    return cells


def points(cells) -> dict[str, tuple[float, float]]:
    """What nbgrader would give for each tests cell, and the most that it could."""
    return {c.metadata.nbgrader.grade_id: determine_grade(c) for c in cells if is_grade(c)}


def errors(cells) -> list[str]:
    return [o.evalue for c in cells if c.cell_type == "code" for o in c.outputs if o.output_type == "error"]


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


@pytest.mark.slow
@pytest.mark.runs("unit")
@pytest.mark.parametrize("unit", LABS, **named)
def test_the_untouched_lab_scores_exactly_zero_and_the_solution_has_full_marks(unit, learner):
    """In one kernel, which forgets in between: to start one takes as long as all checks of a lab."""
    lab, solution = (nbformat.read(root() / path, as_version=4) for path in (unit.lab, unit.solution))
    for number, cell in enumerate(solution.cells):
        cell.id = f"solved-{number}"
    both = new_notebook(metadata=lab.metadata, cells=[*lab.cells, new_code_cell(RESET), *solution.cells])
    done = execute(both, (root() / unit.lab).parent, stop_at_errors=False)
    untouched, solved = points(done.cells[: len(lab.cells)]), points(done.cells[len(lab.cells) + 1 :])
    assert untouched.keys() == solved.keys() != set()
    assert {name: score for name, (score, _) in untouched.items() if score != 0} == {}
    assert {name: score for name, (score, most) in solved.items() if score != most} == {}
    assert errors(done.cells[len(lab.cells) :]) == []


@pytest.mark.parametrize("unit", LABS, **named)
def test_no_line_of_a_solution_is_in_the_lab(unit):
    cells = read(root() / "course" / unit.folder / "lab.py")
    mended = {c.name for c in cells if c.kind == "given"}
    shown = "\n".join(_outside(c.source) for c in cells if not (c.kind == "answer" and c.name in mended))
    hidden = {line for c in cells if c.kind == "answer" for line in _solution(c.source, c.name in mended)}
    secret = {line for line in hidden if len(line) > 12 and line not in shown}
    lab = "\n".join(c.source for c in nbformat.read(root() / unit.lab, as_version=4).cells)
    assert secret
    assert [line for line in secret if line in lab] == []


def _solution(source: str, whole: bool) -> list[str]:
    """The lines that only the author may see: all of them where given code takes the cell's place."""
    lines = [line.strip() for line in source.splitlines()]
    if whole:
        return lines
    inside = [text.partition(END)[0] for text in source.split(BEGIN)[1:]]
    return [line.strip() for text in inside for line in text.splitlines()]


def _outside(source: str) -> str:
    first, *rest = source.split(BEGIN)
    return first + "".join(text.partition(END)[2] for text in rest)


@pytest.mark.parametrize("unit", LABS, **named)
def test_every_exercise_of_the_unit_is_in_its_lab(unit):
    from lockstep.checks import exercises

    tested = {c.name for c in read(root() / "course" / unit.folder / "lab.py") if c.kind == "tests"}
    assert tested == {e.function for e in exercises() if e.topic == unit.topic}


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
