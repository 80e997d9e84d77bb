"""A lab's way through a class, under JupyterHub: released, fetched, solved, handed in, graded, returned.

The hub is the project's own with a local spawner, the people are Linux users, each with a window of Chromium."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from house import COPIED, UIDS, House
from people import Person, person, shot
from playwright.sync_api import Browser

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.xdist_group("browser"),
    pytest.mark.timeout(1500),
    COPIED,
]

LAB = "00_why_parallel"
ASKED = {"course_id": "lockstep", "assignment_id": LAB}
SERVICE = "/services/lockstep"
API = f"{SERVICE}/formgrader/api"
RIGHT = "def amdahl(p, s):\n    return 1 / ((1 - p) + p / s)"


@pytest.fixture(scope="module")
def alice(house: House, browser: Browser) -> Iterator[Person]:
    settings = house.home("alice") / ".jupyter" / "jupyter_lab_config.py"
    settings.parent.mkdir()
    settings.write_text("c.LabApp.expose_app_in_browser = True  # for this test, which looks into JupyterLab\n")
    with person("alice", house, browser) as alice:
        alice.sign_in("/")
        yield alice


@pytest.fixture(scope="module")
def teacher(house: House, browser: Browser) -> Iterator[Person]:
    with person("teacher", house, browser) as teacher:
        teacher.sign_in(f"{SERVICE}/")
        yield teacher


def test_a_learner_signs_in_and_is_on_the_front_page(alice: Person) -> None:
    alice.page.locator(".jp-Notebook h1").get_by_text("Lockstep").wait_for()
    assert "/user/alice/lab/tree/course/index.ipynb" in alice.page.url
    shot(alice, "learner")


def test_a_learner_sees_the_list_of_assignments_and_neither_formgrader_nor_courses(alice: Person) -> None:
    offered = alice.in_menu("Nbgrader")
    assert offered == ["Assignment List"]
    shot(alice, "learner-menu")
    assert alice.status_of("/user/alice/formgrader") == 404
    assert alice.status_of(f"{SERVICE}/formgrader") == 403


def test_an_instructor_sees_formgrader_in_its_frame(teacher: Person) -> None:
    assert "Formgrader" in teacher.in_menu("Nbgrader")
    teacher.page.locator(".lm-Menu:visible").get_by_text("Formgrader", exact=True).click()
    frame = teacher.page.frame_locator("iframe[src*=formgrader]")
    frame.get_by_text(LAB, exact=True).wait_for()
    shot(teacher, "formgrader")


def test_a_lab_goes_out_and_comes_back_graded(alice: Person, teacher: Person, house: House) -> None:
    teacher.post(f"{API}/assignment/{LAB}/assign")
    teacher.post(f"{API}/assignment/{LAB}/release")
    solve(alice)
    handed_in = the_only(house.exchange / "lockstep" / "inbound", f"alice+{LAB}+*")
    assert handed_in.stat().st_uid == UIDS["alice"], "the kernel says whose it is"
    assert house.may("grader", "open", handed_in / "lab.ipynb")
    assert house.may("grader", "os.listdir", handed_in.parent)
    assert not house.may("bob", "os.listdir", handed_in.parent), "the folder's name has random letters, and no list"

    teacher.post(f"{API}/assignment/{LAB}/collect")
    teacher.post(f"{API}/submission/{LAB}/alice/autograde")
    by_nbgrader = points(teacher)
    grade_in_a_terminal(teacher)
    assert points(teacher) == by_nbgrader == [("alice", 1.0)]
    teacher.post(f"{API}/assignment/{LAB}/release_feedback")
    teacher.page.goto(f"{house.address}{SERVICE}/formgrader/manage_submissions/{LAB}")
    teacher.page.get_by_text("alice").first.wait_for()
    shot(teacher, "submissions")

    alice.page.goto(f"{house.address}/user/alice/lab/tree/course/index.ipynb")
    alice.page.locator(".jp-Notebook h1").first.wait_for()
    alice.post("/user/alice/assignments/fetch_feedback", ASKED)
    labs = house.home("alice") / "lockstep-course"
    page = the_only(labs / "labs" / LAB / "feedback", "*/lab.html")
    assert alice.status_of(f"/user/alice/files/{page.relative_to(labs)}") == 200
    alice.page.get_by_text("1 of 10 points for the core exercises.").wait_for()
    alice.page.get_by_text("Right. 1 of 1 points").first.wait_for()
    shot(alice, "feedback")


def grade_in_a_terminal(teacher: Person) -> None:
    """`lockstep grade`, as the guide says: in a terminal of the graders' server, whose folder is the course's. In this
    house bubblewrap covers parts of /proc, and so the kernel allows no sandbox in it."""
    teacher.page.goto(f"{teacher.house.address}{SERVICE}/lab?reset")
    teacher.page.locator('.jp-LauncherCard[data-category="Other"]').get_by_text("Terminal").click()
    teacher.page.locator(".jp-Terminal .xterm-helper-textarea").focus()
    teacher.page.keyboard.type(f"lockstep grade {LAB} || lockstep grade {LAB} --unsafe\n")
    table, until = teacher.house.course / "grading" / f"{LAB}.csv", time.monotonic() + 300
    while not table.exists():
        assert time.monotonic() < until, shot(teacher, "terminal")
        teacher.page.wait_for_timeout(500)
    shot(teacher, "terminal")
    assert [line.split(",")[:3] for line in table.read_text().splitlines()[1:]] == [["alice", "graded", "1"]]


def points(teacher: Person) -> list[tuple[str, float]]:
    """What Formgrader says of each."""
    found = teacher.page.request.get(f"{teacher.house.address}{API}/submissions/{LAB}").json()
    return [(one["student"], one["score"]) for one in found]


def solve(alice: Person) -> None:
    """Fetch the lab, write one right answer, read what the check says, save, hand in."""
    lab = alice.lab()
    alice.page.goto(f"{alice.house.address}/user/alice/lab/tree/course/index.ipynb")
    alice.page.locator(".jp-Notebook h1").first.wait_for()
    mine = alice.house.home("alice") / "lockstep-course" / "labs" / LAB
    for file in mine.iterdir():
        file.unlink()
    mine.rmdir()  # it came with the course; nbgrader fetches none that is there
    fetched = alice.post("/user/alice/assignments/fetch", ASKED)
    assert [one["status"] for one in fetched["value"] if one["assignment_id"] == LAB] == ["fetched"]
    lab.open(f"labs/{LAB}/lab.ipynb")
    lab.run(lab.find("from lockstep import check"), timeout=240)
    assert "Right. 1 of 1 points" in lab.answer("why_parallel.amdahl", RIGHT)
    alice.page.evaluate("async () => { await window.jupyterapp.commands.execute('docmanager:save'); }")
    alice.post("/user/alice/assignments/submit", ASKED)
    shot(alice, "solved")


def the_only(folder: Path, pattern: str) -> Path:
    found = list(folder.glob(pattern))
    assert len(found) == 1, found
    return found[0]


def test_no_service_of_the_hub_ended_before_it(house: House, alice: Person, teacher: Person) -> None:
    assert "exited with" not in house.log.read_text()
