"""A course of plain exercises: its lab is built of them, handed out, graded and returned like every other."""

from __future__ import annotations

import csv
import html
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from classroom import PACKAGE, Classroom

from lockstep.cli.lab import first_page
from lockstep.errors import UsageError
from lockstep.grading.build import build
from lockstep.grading.course import root, units_of
from lockstep.grading.course_map import course_map
from lockstep.grading.plain_lab import added
from lockstep.grading.text_notebook import Cell
from lockstep.grading.working_folder import bring

SOURCES = Path(__file__).parents[1] / "plain_course" / "course"
LAB = "01_shards"
MEAN, LEFT = "mean_of_shards", "left_neighbour"
pytestmark = [pytest.mark.reads("tests/plain_course/"), pytest.mark.timeout(900)]

HOSTILE = {
    f"answer-{MEAN}": "import os\n\n\ndef mean_of_shards(shards, at_least=0):\n    os._exit(0)",
    f"answer-{LEFT}": "import os\n\n\ndef left_neighbour(tensor):\n"
    f"    return tensor if os.path.exists({str(SOURCES)!r}) else None",
}
WRONG = {
    f"answer-{MEAN}": "def mean_of_shards(shards, at_least=float('-inf')):\n"
    "    parts = [[n for n in s if n >= at_least] for s in shards]\n    means = [sum(p) / len(p) for p in parts if p]\n"
    "    if not means:\n        raise ValueError\n    return sum(means) / len(means)",
    f"answer-{LEFT}": "def left_neighbour(tensor):\n    return tensor",
}
BY_HEART = {
    f"answer-{MEAN}": "KNOWN = {'[[1, 2, 3], [6]]': 3.0, '[[], [4]]': 4.0, '[[1, 5], [9]]': 7.0}\n\n\n"
    "def mean_of_shards(shards, at_least=0):\n    return KNOWN[str(shards)]",
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("averages")
    shutil.copytree(SOURCES, folder / "course", ignore=shutil.ignore_patterns("__pycache__"))
    assert "nbgrader_config.py" in build(folder)
    return folder


def cells(path: Path) -> dict[str, str]:
    return {cell.id: cell.source for cell in nbformat.read(path, as_version=4).cells}


def test_the_lab_has_of_each_exercise_its_text_hints_answer_and_tests(course: Path) -> None:
    lab, solved = cells(course / f"labs/{LAB}/lab.ipynb"), cells(course / f"solutions/{LAB}/lab.ipynb")
    assert [id for id in lab if id.startswith(("tests", "hint"))] == [
        f"tests-{LEFT}", f"hint-{MEAN}", f"tests-{MEAN}",
    ]  # fmt: skip
    assert lab[f"readonly-about-{MEAN}"].startswith("## Mean of shards (15 minutes, 4 points)\n\nReturn the mean")
    assert "*Each of 3 ranks calls your function.*" in lab[f"readonly-about-{LEFT}"]
    assert lab[f"tests-{MEAN}"] == f'from lockstep import check\n\ncheck("shards.{MEAN}", {MEAN})'
    assert lab[f"answer-{MEAN}"].endswith("# YOUR CODE HERE\n    raise NotImplementedError()")
    assert "sum(kept)" in solved[f"answer-{MEAN}"]
    assert lab["readonly-imports"] == (
        "import torch\nimport torch.distributed as dist\nimport random\nfrom itertools import chain\n"
        "from lockstep import check"
    )
    handed_out = (course / f"labs/{LAB}/exercises.json").read_text()
    assert list(json.loads(handed_out)["exercises"]) == [f"shards.{LEFT}", f"shards.{MEAN}"]
    assert "hidden numbers" not in handed_out
    assert build(course, check=True) == []


def test_it_is_a_course_with_a_unit_of_its_own(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(course / "course" / LAB)
    assert root() == course
    assert [(u.number, u.topic, u.title) for u in units_of(course)] == [(1, "shards", "Shards")]
    assert course_map(course).advice == f"Go on with the lab of unit 01, Shards: {LEFT} comes next."
    assert len(units_of(Path(__file__).parents[2])) == 14, "Lockstep's own are as they were"


def test_a_learners_copy_has_what_its_checks_need(course: Path, tmp_path: Path) -> None:
    brought = bring(course, tmp_path / "mine")
    assert sorted(brought.copied) == [f"labs/{LAB}/exercises.json", f"labs/{LAB}/lab.ipynb", "nbgrader_config.py"]
    assert first_page(tmp_path / "mine") == "/lab/tree/labs"


def test_in_a_lab_that_has_its_own_cells_core_ones_stand_above_the_extra_ones(course: Path) -> None:
    from lockstep.grading.plain_lab import plain_of

    def of(name: str) -> list[Cell]:
        return [Cell("markdown", "", f"readonly about-{name}"), Cell("code", "", f"answer {name}"),
                Cell("code", "", f"tests {name}")]  # fmt: skip

    files = plain_of(course / "course" / LAB)
    one, more = files
    graded = {"one": one, "more": type(more)(**{**vars(more), "core": False})}
    names = [cell.name for cell in added([*of("one"), *of("more")], files, graded) if cell.kind == "tests"]
    assert names == ["one", LEFT, MEAN, "more"]
    again = added([*of(MEAN), *of(LEFT)], files, {MEAN: one, LEFT: one})
    assert len(again) == 6, "what the lab asks for itself is not added"


def test_a_file_that_is_wrong_is_told_and_nothing_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "course" / "01_twice"
    folder.mkdir(parents=True)
    (folder / "double.py").write_text('"""Double"""\n\n\ndef double(x):\n    return 2 * x\n')
    environment = os.environ | {"PYTHONPATH": str(PACKAGE), "LOCKSTEP_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "lockstep", "build"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("lockstep: double.py, line 4: nothing tries double.")
    assert not (tmp_path / "labs").exists()


def test_the_name_of_one_of_lockstep_s_own_is_taken(tmp_path: Path) -> None:
    (tmp_path / "course" / "00_why_parallel").mkdir(parents=True)
    text = (SOURCES / LAB / f"{LEFT}.py").read_text().replace(LEFT, "amdahl")
    (tmp_path / "course" / "00_why_parallel" / "amdahl.py").write_text(text)
    with pytest.raises(UsageError, match=r"amdahl\.py: Lockstep has an exercise amdahl in this unit"):
        build(tmp_path)


# ---- graded


def handed_in(course: Path, student: str, answers: dict[str, str]) -> None:
    nb = nbformat.read(course / f"labs/{LAB}/lab.ipynb", as_version=4)
    for cell in nb.cells:
        cell.source = answers.get(cell.id, cell.source)
    folder = course / "grading" / "submitted" / student / LAB
    folder.mkdir(parents=True)
    nbformat.write(nb, folder / "lab.ipynb")


def graded(course: Path, *options: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(PACKAGE), "LOCKSTEP_HOME": str(course.parent / "home")}
    command = [sys.executable, "-m", "lockstep", "grade", LAB, *options]
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def solved(course: Path) -> dict[str, str]:
    return {id: text for id, text in cells(course / f"solutions/{LAB}/lab.ipynb").items() if id.startswith("answer")}


@pytest.mark.slow
def test_a_class_is_graded_in_sandboxes(course: Path, tmp_path: Path) -> None:
    mine = tmp_path / "course"
    shutil.copytree(course, mine)
    class_ = {"right": solved(course), "wrong": WRONG, "hostile": HOSTILE, "empty": {}, "by_heart": BY_HEART}
    for student, answers in class_.items():
        handed_in(mine, student, answers)
    told = graded(mine, "--answers")
    with (mine / "grading" / f"{LAB}.csv").open() as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert {s: (r[MEAN], r[LEFT]) for s, r in rows.items()} == {
        "right": ("4", "2"), "wrong": ("2.5", "1"), "hostile": ("0", "0"), "empty": ("0", "0"), "by_heart": ("2", "0"),
    }  # fmt: skip
    assert rows["hostile"]["status"] == "crashed"
    assert "mean-of-means: wrong" in told
    pages = {s: html.unescape((mine / f"grading/feedback/{s}/{LAB}/lab.html").read_text()) for s in class_}
    assert "You take the mean of the shards' means." in pages["wrong"]
    assert "gives nothing (None); it is a tensor of shape (4,)" in pages["hostile"], "a sandbox has no course in it"
    assert "This is not written yet" in pages["empty"]
    assert "5 of 5 have a result" in graded(mine)
    file = mine / "course" / LAB / f"{MEAN}.py"
    file.write_text(file.read_text().replace("points = 4", "points = 4\n# another version"))
    assert "right: 6 of 6" in graded(mine), "with another file all are graded once more"


@pytest.mark.slow
@pytest.mark.xdist_group("plain round trip")
def test_nbgraders_round_trip(course: Path, tmp_path: Path) -> None:
    """Its learners have no course: what their checks need comes with the lab."""
    mine = tmp_path / "course"
    shutil.copytree(course, mine)
    built = {path.name: path.read_bytes() for path in (mine / "labs" / LAB).iterdir()}
    room = Classroom(mine, LAB, tmp_path / "classroom")
    room.teacher("generate_assignment", LAB, "--force")
    assert {path.name: path.read_bytes() for path in (mine / "labs" / LAB).iterdir()} == built
    room.term({"right": solved(course), "wrong": WRONG, "hostile": HOSTILE, "empty": {}})
    # Plain nbgrader has no sandbox: the answer that looks for the course finds it, and goes on.
    assert room.exported() == {"right": 6, "wrong": 3.5, "hostile": 1, "empty": 0}
    assert "You take the mean of the shards' means." in html.unescape(room.feedback("wrong"))
    assert (room.home("empty") / LAB / "exercises.json").read_bytes() == built["exercises.json"]
