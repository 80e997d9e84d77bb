"""The pre-check: what a submission is, before anything of it runs."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path

import nbformat
import pytest

from lockstep.distribution import VERSION
from lockstep.grading.course import root
from lockstep.grading.submission import GRADED, MOST, TAMPERED, WRONG_FORMAT, Made, grade_id, made, read, whole

pytestmark = pytest.mark.reads("labs/", "solutions/")
LAB = "labs/00_why_parallel/lab.ipynb"


@pytest.fixture(scope="module")
def release() -> dict:
    return whole(json.loads((root() / LAB).read_text()))


@pytest.fixture
def notebook(release) -> dict:
    return copy.deepcopy(release)


def handed_in(folder: Path, notebook: object, release: dict, name: str = "lab.ipynb"):
    text = notebook if isinstance(notebook, str) else json.dumps(notebook)
    (folder / name).write_text(text)
    return read(folder, release)


def cell(notebook: dict, id: str) -> dict:
    return next(c for c in notebook["cells"] if grade_id(c) == id)


def test_an_untouched_lab_is_itself(tmp_path, notebook, release):
    found = handed_in(tmp_path, notebook, release)
    assert (found.status, list(found.notes)) == (GRADED, [])
    assert [c["source"] for c in found.notebook["cells"]] == [c["source"] for c in release["cells"]]
    nbformat.validate(nbformat.from_dict(found.notebook))


def test_outputs_and_metadata_of_the_learners_go(tmp_path, notebook, release):
    answer = cell(notebook, "answer-amdahl")
    answer["outputs"] = [{"output_type": "display_data", "data": {"text/html": "<script>"}, "metadata": {}}]
    answer["metadata"]["evil"] = "<script>"
    notebook["cells"].append({"cell_type": "markdown", "metadata": {"nbgrader": "x"}, "source": ["<b>mine", "</b>"]})
    found = handed_in(tmp_path, notebook, release)
    assert "<script>" not in json.dumps(found.notebook)
    assert found.notebook["cells"][-1]["source"] == "<b>mine</b>"


def test_given_cells_are_restored(tmp_path, notebook, release):
    cell(notebook, "tests-amdahl")["source"] = "1"
    cell(notebook, "tests-amdahl")["metadata"]["nbgrader"]["points"] = 100
    notebook["cells"] = [c for c in notebook["cells"] if grade_id(c) not in ("readonly-imports", "tests-training_days")]
    found = handed_in(tmp_path, notebook, release)
    assert found.status == TAMPERED
    assert set(found.tampered) == {"tests-amdahl", "readonly-imports", "tests-training_days"}
    for id in found.tampered:
        assert cell(found.notebook, id)["source"] == cell(release, id)["source"]
    ids = [grade_id(c) for c in found.notebook["cells"] if grade_id(c)]
    assert ids == [grade_id(c) for c in release["cells"] if grade_id(c)], "each in its place"
    assert cell(found.notebook, "tests-amdahl")["metadata"]["nbgrader"]["points"] == 1


def test_of_two_answers_the_last_one_counts(tmp_path, notebook, release):
    first = copy.deepcopy(cell(notebook, "answer-amdahl"))
    cell(notebook, "answer-amdahl")["source"] = "def amdahl(p, s):\n    return 2"
    notebook["cells"].insert(0, first)
    found = handed_in(tmp_path, notebook, release)
    assert found.status == GRADED
    assert list(found.notes) == ["The cell answer-amdahl is there more than once; the last one counts."]
    assert cell(found.notebook, "answer-amdahl")["source"].endswith("return 2")


def test_an_answer_that_is_gone_is_told(tmp_path, notebook, release):
    notebook["cells"] = [c for c in notebook["cells"] if grade_id(c) != "answer-amdahl"]
    found = handed_in(tmp_path, notebook, release)
    assert found.status == GRADED
    assert "answer-amdahl is missing" in found.notes[0]


def stating(notebook: dict, **told: object) -> dict:
    """The notebook, as it would be if it said this of itself."""
    return notebook | {"metadata": notebook["metadata"] | {"lockstep": told}}


@pytest.mark.parametrize("named", [True, False])
def test_another_labs_notebook_is_told_and_is_no_zero(tmp_path, release, named):
    """It has the cells that every lab has, `readonly-imports` and more: that made it a tampered one, with no points."""
    other = json.loads((root() / "labs/04_communication/lab.ipynb").read_text())
    if not named:
        del other["metadata"]["lockstep"]
    found = handed_in(tmp_path, other, release)
    assert (found.status, found.notebook) == (WRONG_FORMAT, None)
    wanted = (
        "lab.ipynb is the notebook of 04_communication, and this is 00_why_parallel: hand in the one of "
        "00_why_parallel." if named else "it is another notebook"
    )  # fmt: skip
    assert wanted in found.notes[0]


def test_a_notebook_that_has_this_labs_cells_is_graded_whatever_it_says(tmp_path, notebook, release):
    found = handed_in(tmp_path, stating(notebook, lab="04_communication", version=VERSION), release)
    assert found.status == GRADED
    told = "Your notebook is that of 04_communication; it has cells of 00_why_parallel, and these were graded."
    assert list(found.notes) == [told]


def test_another_version_is_told_and_what_it_has_changed_is_no_tampering(tmp_path, notebook, release):
    cell(notebook, "tests-amdahl")["source"] = "check('an older one')"
    notebook["cells"] = [c for c in notebook["cells"] if grade_id(c) != "readonly-imports"]
    found = handed_in(tmp_path, stating(notebook, lab="00_why_parallel", version="0.0.9"), release)
    assert (found.status, list(found.tampered)) == (GRADED, [])
    assert list(found.notes) == [f"Your notebook was made with Lockstep 0.0.9, and graded with {VERSION}."]
    for id in ("tests-amdahl", "readonly-imports"):
        assert cell(found.notebook, id)["source"] == cell(release, id)["source"]
    assert found.notebook["metadata"] == release["metadata"]


def test_an_exercise_that_another_version_had_not_costs_nobody_points(tmp_path, notebook, release):
    notebook["cells"] = [c for c in notebook["cells"] if "amdahl" not in grade_id(c)]
    found = handed_in(tmp_path, stating(notebook, lab="00_why_parallel", version="0.0.9"), release)
    assert found.status == WRONG_FORMAT
    (note,) = found.notes
    assert "was made with Lockstep 0.0.9 and has no amdahl, which is graded with" in note


@pytest.mark.parametrize("told", [{}, {"version": "<script>"}, {"version": ["9"]}, {"lab": {}, "version": 1.5}])
def test_what_is_no_version_is_nothing(tmp_path, notebook, release, told):
    found = handed_in(tmp_path, stating(notebook, **told), release)
    assert (found.status, list(found.notes)) == (GRADED, [])


@pytest.mark.parametrize("metadata", [{}, None, [], {"lockstep": "0.0.9"}])
def test_a_notebook_from_before_says_nothing_and_is_graded(tmp_path, notebook, release, metadata):
    found = handed_in(tmp_path, notebook | {"metadata": metadata}, release)
    assert (found.status, list(found.notes)) == (GRADED, [])


def test_every_lab_says_which_it_is(release):
    for lab in sorted((root() / "labs").glob("*/lab.ipynb")):
        for file in (lab, root() / "solutions" / lab.parent.name / "lab.ipynb"):
            assert made(json.loads(file.read_text())) == Made(lab.parent.name, VERSION)


def test_a_renamed_notebook_is_graded(tmp_path, notebook, release):
    found = handed_in(tmp_path, notebook, release, "lab (1).ipynb")
    assert found.status == GRADED
    assert found.notes[0].startswith("Your notebook is named lab (1).ipynb; it was graded as lab.ipynb")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "it is empty"),
        ("{", "line 1 is not JSON"),
        ("[" * 1_000_000, "nested too deeply"),
        ("[1]", "no list of cells"),
        ('{"cells": [1]}', "no list of cells"),
        ('{"cells": []}', "no answer and no test of this lab"),
        ("9" * 5000, "not JSON"),
        (json.dumps({"cells": [{}] * 2001}), "2,001 cells"),
    ],
)
def test_what_is_no_notebook_is_told_in_one_sentence(tmp_path, release, text, told):
    found = handed_in(tmp_path, text, release)
    assert (found.status, found.notebook) == (WRONG_FORMAT, None)
    (note,) = found.notes
    assert told in note


def test_links_pipes_and_large_files_are_not_read(tmp_path, release, notebook):
    lab = tmp_path / "lab.ipynb"
    lab.symlink_to(root() / LAB)
    assert "no link" in read(tmp_path, release).notes[0]
    lab.unlink()
    os.mkfifo(lab)
    assert "is no file" in read(tmp_path, release).notes[0]
    lab.unlink()
    with lab.open("wb") as file:
        file.truncate(MOST + 1)
    assert "Clear Outputs" in read(tmp_path, release).notes[0]
    lab.unlink()
    assert "no notebook of this lab" in read(tmp_path, release).notes[0]


def test_several_notebooks_are_not_guessed_among(tmp_path, release, notebook):
    for name in ("one.ipynb", "two.ipynb"):
        handed_in(tmp_path, notebook, release, name)
    found = read(tmp_path, release)
    assert found.status == WRONG_FORMAT
    assert found.notes == ["You handed in 2 notebooks of this lab, none named lab.ipynb. Hand in one, lab.ipynb."]
