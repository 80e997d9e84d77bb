"""Submissions that mean harm, a file each: none may change anything but its own verdict.

A file's text is the answer to its exercise; or it hands in a notebook of its own making. Its first comments say what
becomes of it: ``status`` (graded), ``points`` (all), what is ``told``, which ``exercise`` (amdahl). Beside each one's
hostile answer stands a right one, which must keep its points; and two students who did nothing wrong are in the class.
"""

from __future__ import annotations

import contextlib
import csv
import html
import json
import shutil
import subprocess

import psutil
import pytest
from hostile_class import FILES, RIGHT, Class, exercise_of, expected
from nbgrader.api import Gradebook
from nbgrader.plugins.export import CsvExportPlugin

from lockstep.errors import WorldUnavailable
from lockstep.grading.sandbox import BUBBLEWRAP, FORK
from lockstep.grading.sandbox_check import kind_of_sandbox
from lockstep.grading.syscalls import prctl

pytestmark = [pytest.mark.xdist_group("hostile"), pytest.mark.timeout(1800)]

ADOPTS = 36  # PR_SET_CHILD_SUBREAPER
CHEAP = ("exit_zero", "reads_the_solutions", "kernel_calls", "changed_tests", "not_json", "pickle_bomb")
SEED = "a secret"
MAXIMUM = {"amdahl": 1, "training_days": 2, "tree_broadcast": 3}
EVIL = ("<script>alert", "onerror=alert(3)>", "\x1b", "\u202e")  # what no feedback may hold as it is


@pytest.fixture(scope="module", autouse=True)
def _sandboxes():
    """Whatever is left without a parent becomes a child of the tests: so it is told from what others run here."""
    try:
        kind_of_sandbox()
    except WorldUnavailable as error:
        pytest.skip(str(error))
    prctl(ADOPTS, 1)
    yield
    prctl(ADOPTS, 0)


@pytest.fixture
def seed(few, monkeypatch):
    """The one that the class was graded with."""
    monkeypatch.setenv("LOCKSTEP_HOME", str(few.course.parent / "home"))
    monkeypatch.setenv("LOCKSTEP_SEED", SEED)


WRAPS = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap: apt-get install bubblewrap")
KINDS = [FORK, pytest.param(BUBBLEWRAP, marks=[pytest.mark.slow, WRAPS])]


def made(tmp_path_factory, lab: str, names: list[str], kind: str) -> Class:
    kind_of_sandbox(kind)
    folder = tmp_path_factory.mktemp("class")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOCKSTEP_HOME", str(folder / "home"))
        patch.setenv("LOCKSTEP_SEED", SEED)
        return Class(folder, lab, names, kind)


@pytest.fixture(scope="module", params=KINDS)
def few(request, tmp_path_factory) -> Class:
    return made(tmp_path_factory, "00_why_parallel", list(CHEAP), request.param)


@pytest.fixture(scope="module", params=KINDS)
def many(request, tmp_path_factory) -> Class:
    return made(tmp_path_factory, "00_why_parallel", [n for n in FILES if exercise_of(n) == "amdahl"], request.param)


@pytest.fixture(scope="module", params=KINDS)
def ranks(request, tmp_path_factory) -> Class:
    return made(tmp_path_factory, "04_communication", [n for n in FILES if exercise_of(n) != "amdahl"], request.param)


def judge(room: Class, name: str) -> None:
    """The submission has the verdict that it states, and its right answer has its points."""
    text, result, mine = FILES[name], room.results[name], exercise_of(name)
    status = expected(text, "status", "")
    assert result.status == (status or result.status), result.notes
    assert result.final, result.notes
    told = html.unescape(room.feedback(name))
    assert expected(text, "told", "") in told
    if result.status == "wrong format":
        assert not result.exercises
        assert len(result.notes) == 1
        assert room.table()[name]["points"] == "", "no grade is no zero"
        return
    points, score = expected(text, "points", str(MAXIMUM[mine])), result.exercises[mine].score
    assert points == "any" or score["points"] == float(points), score["findings"]
    for other in set(room.exercises) - {mine}:
        assert result.exercises[other].score["points"] == MAXIMUM[other]


def family(process: psutil.Process) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.children(recursive=True)
    return []


def harmless(room: Class) -> None:
    """The others have their marks; nothing runs any more, nothing was opened, no feedback can act."""
    for student in RIGHT:
        assert room.results[student].status == "graded"
        assert float(room.table()[student]["points"]) == sum(MAXIMUM[e] for e in room.exercises)
    begun = [p for p in psutil.Process().children() if p.pid not in room.before]
    _, left = psutil.wait_procs([*begun, *(below for p in begun for below in family(p))], timeout=10)
    assert not left
    assert not (room.course.parent / "opened").exists()
    for student in room.results:
        page = room.feedback(student)
        assert not [evil for evil in EVIL if evil in page]
    assert json.loads((room.course / "solutions" / room.lab / "lab.ipynb").read_text()) == room.solved


def test_who_has_left_its_parent_is_found():
    """Whoever was nobody on this machine was waited for: those of another grader, too."""
    before = {p.pid for p in psutil.Process().children()}
    subprocess.run(["sh", "-c", "setsid sleep 600 &"], check=True)
    (orphan,) = [p for p in psutil.Process().children() if p.pid not in before]
    orphan.kill()
    assert psutil.wait_procs([orphan], timeout=10)[1] == []


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", CHEAP)
def test_a_cheap_one_changes_its_own_verdict_alone(few, name):
    judge(few, name)


def test_the_few_harm_nobody(few):
    harmless(few)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in FILES if exercise_of(n) == "amdahl"])
def test_a_hostile_one_changes_its_own_verdict_alone(many, name):
    judge(many, name)


@pytest.mark.slow
def test_the_many_harm_nobody(many):
    harmless(many)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in FILES if exercise_of(n) != "amdahl"])
def test_hostile_ranks_change_their_own_verdict_alone(ranks, name):
    judge(ranks, name)


@pytest.mark.slow
def test_hostile_ranks_harm_nobody(ranks):
    harmless(ranks)


def test_a_second_run_changes_nothing(few, seed):
    before = few.book()
    assert {row[0] for row in before} == {s for s in few.results if few.results[s].status != "wrong format"}
    files = {p: p.read_bytes() for p in (few.course / "grading").rglob("*.*") if p.suffix in (".csv", ".html", ".json")}
    few.grade()
    assert few.book() == before
    assert {p: p.read_bytes() for p in files} == files


def test_nbgrader_exports_the_same_grades(few, tmp_path):
    with Gradebook(f"sqlite:///{few.course}/grading/gradebook.db", "lockstep") as book:
        CsvExportPlugin(to=str(tmp_path / "grades.csv")).export(book)
    with (tmp_path / "grades.csv").open() as file:
        exported = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert exported == {s: float(row["points"]) for s, row in few.table().items() if row["points"]}


def test_one_student_is_graded_once_more(few, seed):
    before = few.book()
    few.grade(students=["exit_zero"])
    assert few.book() == before


def test_there_are_at_least_thirty_of_them():
    assert len(FILES) >= 30
