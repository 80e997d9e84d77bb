"""Every lab as it is committed: its solution has full marks, the untouched one has none and shows no solution."""

from __future__ import annotations

import nbformat
import pytest
from executed import RESET, errors, execute, points, surroundings
from nbformat.v4 import new_code_cell, new_notebook

from lockstep.grading.course import UNITS, root
from lockstep.grading.lab_rules import BEGIN, END
from lockstep.grading.text_notebook import read

LABS = [u for u in UNITS if (root() / "course" / u.folder / "lab.py").exists()]
pytestmark = pytest.mark.timeout(900)
learner = pytest.fixture(surroundings)
named = {"ids": lambda unit: unit.folder}


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
