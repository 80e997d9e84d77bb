"""Where the course is, what its units are, and the map on the front page."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lockstep import progress
from lockstep.checks import find
from lockstep.errors import UsageError
from lockstep.grading.course import UNITS, contents, find_unit, root, units
from lockstep.grading.course_map import CourseMap, Row, course_map, functions
from lockstep.grading.course_progress import asked


def row(
    number: int, lesson: bool = True, points: float = 0, maximum: float = 10, left: tuple[str, ...] = ("ring",)
) -> Row:
    return Row(UNITS[number], lesson, lesson, points, maximum, left)


def test_the_course_is_found_from_any_folder_inside_it(sample, monkeypatch):
    inside = sample / "course" / "90_sample"
    monkeypatch.chdir(inside)
    assert root() == sample.resolve()
    assert root(sample) == sample.resolve()


def test_elsewhere_it_is_the_one_of_the_package(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (root() / "pkg" / "lockstep").is_dir()


def test_fourteen_units_each_with_a_folder_of_its_own():
    assert [u.number for u in UNITS] == list(range(14))
    assert UNITS[4].folder == "04_communication"
    assert len({u.topic for u in UNITS}) == 14


def test_every_source_folder_is_a_unit():
    folders = {p.name for p in (root() / "course").iterdir() if p.is_dir() and not p.name.startswith(".")}
    assert folders <= {u.folder for u in UNITS}


def test_units_tells_what_is_there_and_counts_the_known_answers(tmp_path):
    (tmp_path / "course/04_communication").mkdir(parents=True)
    (tmp_path / "course/04_communication/lesson.ipynb").touch()
    listed = units(tmp_path)["units"]
    assert len(listed) == 14
    assert {k: listed[4][k] for k in ("id", "number", "title", "lesson", "lab", "solution")} == {
        "id": "communication", "number": 4, "title": "Communication", "lesson": True, "lab": False, "solution": False,
    }  # fmt: skip
    (ring,) = (e for e in listed[4]["exercises"] if e["id"] == "communication.ring_all_reduce")
    assert ring["signature"] == "ring_all_reduce(tensor, group=None)"
    assert ring["points"] > 0
    assert ring["minutes"] > 0
    assert (ring["kind"], ring["core"]) == ("write", True)
    exercise = find(ring["id"])
    assert (ring["mutants"], ring["alternatives"]) == (
        len(list(exercise.wrong.iterdir())),
        len(list(exercise.right.iterdir())),
    )
    assert [e["id"] for e in listed[4]["exercises"] if e["kind"] == "catch"] == ["communication.is_all_reduce"]
    assert listed[0]["lesson"] is False


def test_the_table_of_contents_links_what_is_written(tmp_path):
    (tmp_path / "course/04_communication").mkdir(parents=True)
    (tmp_path / "course/04_communication/lesson.py").touch()
    (tmp_path / "course/04_communication/lab.py").touch()
    lines = contents(tmp_path).splitlines()
    assert len(lines) == 2 + 14
    assert "[Communication](../course/04_communication/lesson.ipynb)" in lines[6]
    assert "[lab](../labs/04_communication/lab.ipynb)" in lines[6]
    assert lines[2].endswith("| to come |")


MAPS = {
    "nothing written": ([row(0, lesson=False)], "You have done all that is here so far."),
    "nothing done": (
        [row(3, lesson=False), row(4)],
        "Begin with the lesson of unit 04, Communication.",
    ),
    "begun": (
        [row(3), row(4, points=2)],
        "Go on with the lab of unit 04, Communication: ring comes next.",
    ),
    "no lesson": (
        [Row(UNITS[4], False, True, 0, 10, ("ring",))],
        "Go on with the lab of unit 04, Communication: ring comes next.",
    ),
    "one done": ([row(3, points=10, left=()), row(4)], "Begin with the lesson of unit 04, Communication."),
    "all done": ([row(4, points=10, left=())], "You have done all that is here so far."),
}  # fmt: skip


@pytest.mark.parametrize("case", MAPS)
def test_the_map_says_where_to_go_on(case):
    rows, advice = MAPS[case]
    assert CourseMap(tuple(rows)).advice == advice
    assert advice in CourseMap(tuple(rows))._repr_html_()


def test_the_map_shows_your_best_attempts(monkeypatch, tmp_path):
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path))
    before = course_map().rows[4]
    progress.record_score("communication.ring_all_reduce", 1, 10_000, "wrong")
    progress.record_score("communication.ring_all_reduce", 0, 10_000, "crashed")
    after = course_map().rows[4]
    assert (before.points, after.points) == (0, 1)
    assert "ring_all_reduce" in after.left
    progress.record_score("communication.choose_algorithm", 1, 3, "wrong")
    assert (course_map().rows[4].points, course_map().rows[4].extra) == (1, 1)
    assert course_map().rows[4].status.endswith(" points, 1 extra")
    progress.record_score("communication.ring_all_reduce", 10_000, 10_000, "passed")
    assert "ring_all_reduce" not in course_map().rows[4].left, "a score from when it gave more points is full marks now"


def test_the_map_reads_as_text_and_links_as_html():
    drawn = CourseMap((row(3, lesson=False), row(4, points=2)))
    assert repr(drawn).splitlines()[:2] == [
        "03  Inside a GPU                                         to come",
        "04  Communication                                        2 of 10 points",
    ]
    html = drawn._repr_html_()
    assert '<a href="../labs/04_communication/lab.ipynb">Open the lab</a>' in html
    assert '<progress value="2" max="10"' in html
    assert "03_gpu" not in html


def test_the_front_page_does_not_show_its_table_twice():
    """The units stood in the text of the page, and again in what its first cell shows."""
    untouched = CourseMap((row(3), row(4)))._repr_html_()
    assert "<table" not in untouched
    assert "Begin with the lesson of unit 03" in untouched
    begun = CourseMap((row(3), row(4, points=2)))._repr_html_()
    assert begun.count("<tr>") == 2
    assert "Inside a GPU" not in begun


def test_outside_every_course_it_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr("lockstep.grading.course.__file__", str(tmp_path / "site-packages" / "course.py"))
    with pytest.raises(UsageError, match="There is no Lockstep course here"):
        root(Path(tmp_path))


def test_the_map_knows_from_the_built_labs_what_the_exercises_say():
    said = {unit["id"]: unit for unit in units()["units"]}
    for unit in UNITS:
        exercises = said[unit.topic]["exercises"]
        asked = functions(root() / unit.lab)
        assert list(asked.items()) == [
            (e["id"].partition(".")[2], float(e["points"]) if e["core"] else 0.0) for e in exercises
        ]


def test_the_front_page_needs_no_torch(tmp_path):
    code = "from lockstep.grading.course_map import course_map\ncourse_map()._repr_html_()\nimport sys\n"
    code += "print([m for m in ('torch', 'numpy', 'sklearn', 'numba', 'anywidget') if m in sys.modules])"
    environment = {**os.environ, "LOCKSTEP_HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert said.stdout == "[]\n"


def test_a_lab_that_is_no_notebook_any_more_costs_the_map_only_its_points(tmp_path):
    lab = tmp_path / UNITS[4].lab
    lab.parent.mkdir(parents=True)
    lab.write_text("<<<<<<< HEAD")
    assert (course_map(tmp_path).rows[4].lab, course_map(tmp_path).rows[4].maximum) == (True, 0)


@pytest.fixture
def _own_home(monkeypatch, tmp_path):
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path))


@pytest.mark.usefixtures("_own_home")
def test_lessons_count_as_well_as_labs():
    """`lockstep progress` spoke of labs only: who had read a lesson was told to begin with it."""
    names = asked("communication")
    progress.lock_prediction(f"communication.{names.predictions[0]}", 4, "times")
    progress.record_outcome(f"communication.{names.predictions[0]}", progress.Outcome(3.0, 9.0))
    progress.lock_prediction(f"communication.{names.predictions[1]}", 4, "times")
    progress.record_outcome(f"communication.{names.predictions[1]}", progress.Outcome(9.0))
    progress.open_up(f"communication.{names.turns[0]}", how="solved")
    progress.open_up(f"communication.{names.turns[1]}", how="shown")
    progress.record_answer(f"communication.{names.quizzes[0]}", "5", True)
    progress.record_answer(f"communication.{names.quizzes[1]}", "6", False)
    done = course_map()
    row = done.rows[4]
    assert (row.read.done, row.read.shown, row.read.of) == (4, 1, 13)
    assert row.lesson_status == "4 of 13, 1 shown"
    assert done.advice == "Go on with the lesson of unit 04, Communication."
    assert "Within a factor of 2 in 1 of 2 predictions." in done.total
    assert "4 of 13, 1 shown" in done._repr_html_()


@pytest.mark.usefixtures("_own_home")
def test_after_a_lesson_comes_its_lab_and_what_was_shown_is_read_as_well():
    names = asked("communication")
    for name in (*names.predictions, *names.turns):
        progress.open_up(f"communication.{name}", how="shown")
    for name in names.quizzes:
        progress.record_answer(f"communication.{name}", "", False)
    assert course_map().rows[4].read.finished
    assert course_map().advice.startswith("Go on with the lab of unit 04, Communication: ")


def test_what_was_worked_on_last_comes_next():
    """Who had left a lab of an early unit unfinished was sent back to it for ever."""
    early, late = row(3, points=2), row(4, points=2)
    rows = (replace(early, when="2026-01-01T00:00:00+00:00"), replace(late, when="2026-02-01T00:00:00+00:00"))
    assert CourseMap(rows).next is rows[1]


def test_what_more_py_asks_is_not_asked_of_the_lesson():
    assert "bits" not in asked("horovod").predictions
    assert "order" in asked("horovod").predictions


@pytest.mark.parametrize("named", ["4", "04", "communication", "04_communication"])
def test_a_unit_is_named_in_any_way(named):
    assert find_unit(named).topic == "communication"


def test_there_is_no_such_unit():
    with pytest.raises(UsageError, match="There is no unit '99'"):
        find_unit("99")


def test_a_course_without_labs_has_a_map():
    """A sum over no lab could not be taken apart."""
    drawn = CourseMap((Row(UNITS[4], True, False, 0, 0, ()),))
    assert drawn.total == ""
    assert CourseMap(()).total == ""
    assert "Begin with the lesson of unit 04" in repr(drawn)
