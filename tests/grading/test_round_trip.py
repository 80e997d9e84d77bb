"""The sample lab through the real nbgrader: generate, release, fetch, submit, collect, autograde, feedback, export."""

from __future__ import annotations

import shutil

import pytest
from classroom import Classroom
from sample_check import FINDING, lists

from lockstep.grading.build import build
from lockstep.grading.working_folder import bring

pytestmark = [pytest.mark.xdist_group("sample round trip"), pytest.mark.timeout(900)]

LAB = "90_sample"
RELEASED = f"labs/{LAB}/lab.ipynb"
TOTAL = "def total(numbers):\n    return sum(numbers)"
MENDED = "def mend_total(numbers):\n    return sum(numbers)"
BY_HEART = {tuple(numbers): sum(numbers) for numbers in lists()}

SUBMISSIONS = {
    "right": {"answer-total": "import sys\nprint('on stderr', file=sys.stderr)\n" + TOTAL, "answer-mend_total": MENDED},
    "partly": {
        "answer-total": "def total(numbers):\n    return sum(abs(n) for n in numbers)",
        "tests-total": "6",
        "answer-mend_total": MENDED,
    },
    "hopeless": {"answer-total": "def total(numbers) return", "answer-mend_total": "del mend_total"},
    "by_heart": {
        "answer-total": f"def total(numbers):\n    return {BY_HEART}.get(tuple(numbers))",
        "answer-mend_total": MENDED,
    },
    "untouched": {},
}
EXPECTED = {
    "right": {"total": 6, "mend_total": 4},
    "partly": {"total": 3, "mend_total": 4},
    "hopeless": {"total": 0, "mend_total": 0},
    "by_heart": {"total": 0, "mend_total": 4},
    "untouched": {"total": 0, "mend_total": 0},
}


@pytest.fixture(scope="module")
def generated(sample_course, find) -> bytes:
    """Build; then let nbgrader make the student's lab too. What the build had made, for comparison."""
    build(sample_course, find=find)
    return (sample_course / RELEASED).read_bytes()


@pytest.fixture(scope="module")
def classroom(sample_course, generated, tmp_path_factory) -> Classroom:
    room = Classroom(sample_course, LAB, tmp_path_factory.mktemp("classroom"))
    room.teacher("generate_assignment", LAB, "--force")
    room.term(SUBMISSIONS)
    return room


@pytest.mark.slow
def test_nbgrader_makes_the_same_lab_as_the_build(classroom, generated):
    assert (classroom.root / RELEASED).read_bytes() == generated


def test_the_students_folder_holds_the_lab_alone(classroom):
    assert [p.name for p in (classroom.exchange / "lockstep" / "outbound" / LAB).iterdir()] == ["lab.ipynb"]


@pytest.mark.parametrize("student", SUBMISSIONS)
def test_each_submission_gets_its_points(classroom, student):
    assert classroom.points(student) == EXPECTED[student]
    assert classroom.exported()[student] == sum(EXPECTED[student].values())


def test_feedback_tells_what_was_wrong(classroom):
    assert FINDING in classroom.feedback("partly")
    assert FINDING not in classroom.feedback("right")


def test_the_published_inputs_can_be_learnt_by_heart_and_the_secret_ones_cannot(classroom):
    assert [BY_HEART.get(tuple(numbers)) for numbers in lists()] == [sum(numbers) for numbers in lists()]
    assert classroom.points("by_heart")["total"] == 0


@pytest.mark.slow
def test_a_working_folder_is_handed_in_by_plain_commands(classroom):
    """It is fetched into labs/ and handed in from there; a version that came beside the learner's own stays at home."""
    mine = classroom.home("in_a_copy")
    bring(classroom.root, mine)
    shutil.rmtree(mine / "labs" / LAB)
    classroom.in_copy("in_a_copy", "fetch_assignment", LAB)
    shutil.copy(mine / RELEASED, mine / "labs" / LAB / "lab.new.ipynb")
    classroom.answer("in_a_copy", SUBMISSIONS["right"])
    classroom.in_copy("in_a_copy", "submit", LAB, "--student", "in_a_copy")
    classroom.teacher("collect", LAB)
    handed_in = classroom.root / "grading" / "submitted" / "in_a_copy" / LAB
    assert [p.name for p in handed_in.glob("*.ipynb")] == ["lab.ipynb"]
    classroom.teacher("autograde", LAB, "--student", "in_a_copy")
    assert classroom.points("in_a_copy") == EXPECTED["right"]
