"""Notebooks from text: what they hold, that they are stable, and that mistakes are named in one line."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from lockstep.grading.build import BuildError, build

SOLVED, RELEASED = "solutions/90_sample/lab.ipynb", "labs/90_sample/lab.ipynb"
ALL = ["course/90_sample/lesson.ipynb", "course/index.ipynb", RELEASED, SOLVED]


def notebook(path: Path):
    return nbformat.read(path, as_version=4)


def cells(path: Path) -> dict:
    return {c.id: c for c in notebook(path).cells}


def test_every_source_has_its_notebooks_and_building_twice_changes_nothing(sample, find):
    assert sorted(build(sample, find=find)) == sorted(ALL)
    before = {p: (sample / p).read_bytes() for p in ALL}
    assert build(sample, find=find) == []
    assert {p: (sample / p).read_bytes() for p in ALL} == before


def test_check_names_what_is_stale_and_writes_nothing(sample, find):
    assert sorted(build(sample, check=True, find=find)) == sorted(ALL)
    assert not (sample / SOLVED).exists()
    build(sample, find=find)
    lesson = sample / "course/90_sample/lesson.py"
    lesson.write_text(lesson.read_text() + "\n# %%\n2 + 2\n")
    assert build(sample, check=True, find=find) == ["course/90_sample/lesson.ipynb"]


def test_a_solved_lab_carries_the_points_of_its_exercises(sample, find):
    build(sample, find=find)
    roles = {
        i: (c.metadata.nbgrader.grade, c.metadata.nbgrader.solution, c.metadata.nbgrader.locked,
            c.metadata.nbgrader.get("points"))
        for i, c in cells(sample / SOLVED).items() if "nbgrader" in c.metadata
    }  # fmt: skip
    assert roles == {
        "readonly-intro": (False, False, True, None),
        "readonly-imports": (False, False, True, None),
        "answer-total": (False, True, False, None),
        "tests-total": (True, False, True, 6),
        "answer-mend_total": (False, True, False, None),
        "tests-mend_total": (True, False, True, 4),
    }
    assert "secret_of_the_author" in cells(sample / SOLVED)["answer-total"].source


EXTRA = """
# %% [markdown] lab="readonly about-more"
# ## More ({minutes} minutes, {points} points)

# %% lab="answer more"
def more():
    ### BEGIN SOLUTION
    return 1
    ### END SOLUTION


# %% lab="tests more"
check("sample.more", more)
"""


def test_what_is_extra_is_folded_and_has_no_grade(sample, find):
    lab = sample / "course/90_sample/lab.py"
    lab.write_text(lab.read_text() + EXTRA)
    build(sample, find=find)
    built = cells(sample / SOLVED)
    assert built["readonly-about-more"].metadata["jp-MarkdownHeadingCollapsed"] is True
    assert built["readonly-about-more"].source == "## More (10 minutes, 2 points)"
    tests = built["tests-more"].metadata.nbgrader
    assert (tests.grade, tests.locked, tests.get("points")) == (False, True, None)
    assert built["answer-more"].metadata.nbgrader.solution is True


def test_core_exercises_come_first(sample, find):
    lab = sample / "course/90_sample/lab.py"
    begin, mark, rest = lab.read_text().partition('# %% lab="answer total"')
    lab.write_text(begin + EXTRA + "\n" + mark + rest)
    with pytest.raises(BuildError, match="it is core, and more above it is extra; core exercises come first"):
        build(sample, find=find)


def test_a_tests_cell_runs_after_a_restart(sample, find):
    """It said "NameError: name 'check' is not defined", and which cell to run for that was not to be seen."""
    build(sample, find=find)
    for path in (SOLVED, RELEASED):
        assert cells(sample / path)["tests-total"].source == (
            'from sample_check import check\n\ncheck("sample.total", total)'
        )


def test_a_student_gets_stubs_and_the_given_code_and_no_solution(sample, find):
    build(sample, find=find)
    released = cells(sample / RELEASED)
    assert released["answer-total"].source.endswith("    # YOUR CODE HERE\n    raise NotImplementedError()")
    assert "broken_on_purpose" in released["answer-mend_total"].source
    assert "given-mend_total" not in released
    text = (sample / RELEASED).read_text()
    assert not any(s in text for s in ("by_the_author", "of_the_author", "BEGIN SOLUTION", "BEGIN GIVEN"))


def test_no_built_notebook_has_outputs(sample, find):
    build(sample, find=find)
    for path in ALL:
        code = [c for c in notebook(sample / path).cells if c.cell_type == "code"]
        assert all(c.outputs == [] and c.execution_count is None for c in code)


def test_cells_keep_their_ids_when_another_comes(sample, find):
    build(sample, find=find)
    before = list(cells(sample / "course/90_sample/lesson.ipynb"))
    assert len(before) == 3, "two cells of the same text still have two ids"
    lesson = sample / "course/90_sample/lesson.py"
    lesson.write_text("# %%\n'first'\n\n" + lesson.read_text())
    build(sample, find=find)
    assert list(cells(sample / "course/90_sample/lesson.ipynb"))[1:] == before


MISTAKES = {
    "duplicate": (
        'lab="readonly intro"', 'lab="readonly imports"',
        'lab.py:4: cell "readonly imports": a cell above has the same tag; every tag stands once in a lab',
    ),
    "no points": (
        "total", "free",
        "the exercise sample.free gives 0 points; give it a number above 0 in lockstep.checks",
    ),
    "unknown exercise": (
        "mend_total", "mend_nothing",
        'cell "tests mend_nothing": There is no exercise \'sample.mend_nothing\'.',
    ),
    "unknown kind": (
        'lab="readonly imports"', 'lab="locked imports"',
        'lab.py:4: cell "locked imports": a tag reads lab="KIND name", with KIND one of readonly, given, answer, tests',
    ),
    "broken tag": (
        'lab="readonly imports"', 'lab="readonly imports',
        'lab.py:4: a tag reads lab="KIND name", with KIND one of readonly, given, answer, tests',
    ),
    "hidden score": (
        'check("sample.total", total)', 'check("sample.total", total);  # quiet',
        'the ; hides the score, and nbgrader then gives full marks; write check("sample.total", total)',
    ),
    "displayed score": (
        'check("sample.total", total)', 'display(check("sample.total", total))',
        'cell "tests total": a tests cell is one call and nothing else: check("sample.total", total)',
    ),
    "kept score": (
        'check("sample.total", total)', 'score = check("sample.total", total)',
        "a tests cell is one call and nothing else",
    ),
    "two calls": (
        'check("sample.total", total)', 'check("sample.total", total)\ncheck("sample.total", total)',
        "a tests cell is one call and nothing else",
    ),
    "other exercise": (
        'check("sample.total", total)', 'check("sample.mend_total", total)',
        "a tests cell is one call and nothing else",
    ),
    "not Python": (
        'check("sample.total", total)', 'check("sample.total", total',
        'cell "tests total": it is not Python',
    ),
    "nothing to write": (
        "    ### BEGIN SOLUTION\n", "",
        'cell "answer total": every ### BEGIN SOLUTION needs one ### END SOLUTION below it',
    ),
    "leak": (
        "# Write `total`.", "# ### BEGIN SOLUTION",
        'only a cell with lab="answer …" may hold ### BEGIN SOLUTION: a student would read this one',
    ),
    "not code": (
        '# %% lab="tests total"',
        '# %% [markdown] lab="tests total"',
        'cell "tests total": a cell with this tag holds code, not markdown',
    ),
    "no tests": (
        '# %% lab="tests total"', "# %%",
        'cell "answer total": nothing grades it: add a cell with lab="tests total" below',
    ),
    "other function": (
        "def total(", "def sum_up(",
        'cell "answer total": it does not define total',
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_with_file_and_cell(sample, mistake, find):
    right, wrong, expected = MISTAKES[mistake]
    lab = sample / "course/90_sample/lab.py"
    before = lab.read_text()
    lab.write_text(before.replace(right, wrong))
    assert lab.read_text() != before
    with pytest.raises(BuildError) as caught:
        build(sample, find=find)
    lines = str(caught.value).splitlines()
    assert any(expected in line for line in lines), lines
    assert all(line.startswith("course/90_sample/lab.py:") for line in lines)
    assert not (sample / "labs").exists(), "nothing is written when a source is wrong"


def test_a_lesson_with_a_lab_cell_is_refused(sample, find):
    lesson = sample / "course/90_sample/lesson.py"
    lesson.write_text('# %% lab="answer total"\ndef total(): ...\n')
    with pytest.raises(BuildError, match=r'lesson.py:1: cell "answer total": a lesson has no lab cells'):
        build(sample, find=find)


def test_answers_in_labs_are_never_overwritten(sample, find):
    build(sample, find=find)
    lab = notebook(sample / RELEASED)
    next(c for c in lab.cells if c.id == "answer-total").source = "def total(tensor, group=None):\n    return tensor"
    nbformat.write(lab, sample / RELEASED)
    worked_on = (sample / RELEASED).read_bytes()
    with pytest.raises(BuildError, match=r"labs/90_sample/lab\.ipynb holds somebody's answers"):
        build(sample, find=find)
    assert (sample / RELEASED).read_bytes() == worked_on


def test_a_lab_that_cannot_be_read_is_not_overwritten(sample, find):
    build(sample, find=find)
    (sample / RELEASED).write_text("<<<<<<< HEAD\n")
    with pytest.raises(BuildError, match=r"labs/90_sample/lab\.ipynb is not a notebook, and may still hold answers"):
        build(sample, find=find)
    assert (sample / RELEASED).read_text() == "<<<<<<< HEAD\n"


def test_a_lab_that_was_only_run_is_brought_up_to_date(sample, find):
    build(sample, find=find)
    before = (sample / RELEASED).read_bytes()
    lab = notebook(sample / RELEASED)
    next(c for c in lab.cells if c.cell_type == "code").execution_count = 7
    nbformat.write(lab, sample / RELEASED)
    assert build(sample, find=find) == [RELEASED]
    assert (sample / RELEASED).read_bytes() == before
