"""Who gets into a hub of Linux users, and what a learner's server reaches there.

Whoever had the learners' password signed in as any Linux user, root and the grader too, and had that user's server."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from house import COPIED, PASSWORDS, ROOT, UIDS, House
from visitor import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), COPIED]

TRY = """
import json, os
found = {{}}
for what, path in json.loads({asked!r}):
    try:
        eval(what)(path)
        found[f"{{what}} {{path}}"] = "done"
    except OSError as error:
        found[f"{{what}} {{path}}"] = type(error).__name__
print(json.dumps(found))
"""
LIST, READ = "os.listdir", "open"
WRITE, AWAY = "lambda path: open(path, 'a')", "lambda path: os.rename(path, path + '-away')"


@pytest.fixture(scope="module")
def alice(house: House) -> Visitor:
    return with_a_server("alice", house)


@pytest.fixture(scope="module")
def bob(house: House) -> Visitor:
    return with_a_server("bob", house)


def with_a_server(name: str, house: House) -> Visitor:
    visitor = Visitor(house, name)
    assert visitor.sign_in()[0] == 200
    assert visitor.start()
    return visitor


@pytest.mark.parametrize("name", ["root", "ROOT", "daemon", "grader", "mallory"])
def test_who_is_on_no_list_cannot_sign_in_by_their_own_password(house: House, name: str) -> None:
    visitor = Visitor(house, name)
    status, page = visitor.sign_in(PASSWORDS[name.lower()])
    assert status == 403
    assert "Invalid username or password" in page, "it does not say whether that was the password"
    assert not visitor.is_in()


@pytest.mark.parametrize("name", ["bob", "teacher"])
def test_a_learners_password_opens_nobody_elses_server(house: House, name: str) -> None:
    """All learners had one password, and each could be the other."""
    visitor = Visitor(house, name)
    assert visitor.sign_in(PASSWORDS["alice"])[0] == 403
    assert not visitor.is_in()


def test_a_learners_server_is_the_learners_alone(house: House, alice: Visitor, bob: Visitor) -> None:
    code = "import os; open('new', 'w'); print(os.getuid(), os.getgroups(), oct(os.stat('new').st_mode))"
    assert alice.run(code) == f"{UIDS['alice']} [{UIDS['alice']}] 0o100600\n"
    assert alice.api("GET", "/user/bob/api/contents")[0] == 403
    assert alice.api("GET", "/hub/api/users/bob")[0] == 404, "not even that there is one"
    assert alice.api("POST", "/hub/api/users/bob/server")[0] in (403, 404)
    assert alice.api("GET", "/services/lockstep/api/contents")[0] == 403


def test_a_learners_server_cannot_read_anothers_files_the_seed_or_the_gradebook(
    house: House, alice: Visitor, bob: Visitor
) -> None:
    secrets = {
        house.home("grader") / ".lockstep/grading_seed": "grader",
        house.course / "grading/gradebook.db": "grader",
        house.course / "grading/submitted/bob/00_why_parallel/lab.ipynb": "grader",
        house.home("bob") / "lockstep-course/labs/mine.txt": "bob",
    }
    for path, owner in secrets.items():
        written(path, owner)
        assert house.may(owner, "open", path)
    folders = [*{path.parent for path in secrets}, house.home("teacher"), house.at / "state"]
    asked = [(READ, path) for path in secrets] + [(LIST, path) for path in folders]
    asked += [(READ, house.at / "state/jupyterhub.sqlite"), (READ, house.at / "state/cookie_secret")]
    asked += [(READ, Path("/etc/shadow")), (READ, Path("/proc/1/environ"))]
    assert set(tried(alice, asked).values()) == {"PermissionError"}


def test_a_learners_server_cannot_change_what_the_hub_runs_or_the_graders_hand_out(
    house: House, alice: Visitor
) -> None:
    (house.exchange / "lockstep").mkdir(exist_ok=True)
    os.chown(house.exchange / "lockstep", UIDS["grader"], UIDS["grader"])
    places = [ROOT / "docker/jupyterhub_config.py", house.at / "learners", house.course / "nbgrader_config.py"]
    places += [house.course / "labs/00_why_parallel/lab.ipynb", Path(os.__file__)]
    found = tried(alice, [(WRITE, place) for place in places] + [(AWAY, house.exchange / "lockstep")])
    assert set(found.values()) <= {"PermissionError", "OSError"}, found  # OSError: a read-only mount


def test_graders_cannot_change_what_the_hub_runs(house: House) -> None:
    """The guide gave them the clone, and whoever grades has a terminal there."""
    for place in (house.course / "docker/jupyterhub_config.py", house.course / "nbgrader_config.py"):
        assert not house.may("grader", "(lambda path: open(path, 'a'))", place)
    assert house.may("grader", "(lambda path: open(path, 'a'))", house.course / "labs/00_why_parallel/lab.ipynb")


@pytest.mark.parametrize("name", ["root", "grader", "mallory"])
def test_an_instructor_starts_no_server_for_anybody_else(house: House, name: str) -> None:
    """An instructor administers the hub, and can add a user by any name."""
    teacher = Visitor(house, "teacher")
    teacher.sign_in()
    teacher.api("POST", f"/hub/api/users/{name}")
    assert not teacher.start(name)
    assert f"The hub starts no server for {name}: " in house.log.read_text()


def test_whoever_fails_to_sign_in_has_to_wait(house: House) -> None:
    """As many passwords were looked at as anybody sent."""
    for attempt in range(5):
        assert Visitor(house, "bob").sign_in(f"guess {attempt}")[0] == 403
    status, page = Visitor(house, "bob").sign_in("guess 5")
    assert status == 429
    assert "Too many attempts have failed. Wait " in page
    until = time.monotonic() + 120
    while Visitor(house, "bob").sign_in()[0] != 200:
        assert time.monotonic() < until
        time.sleep(1)


REFUSED = [
    ({"LOCKSTEP_LEARNERS": "*"}, "LOCKSTEP_LEARNERS=* would give a server to any Linux user."),
    ({"LOCKSTEP_SPAWNER": "simple"}, "LOCKSTEP_SPAWNER is simple; set it to docker or local."),
    ({"LOCKSTEP_LEARNERS": ""}, "The hub needs one list of its learners."),
    ({"LOCKSTEP_LEARNERS": "alice root"}, "would give a server to root"),
    ({"LOCKSTEP_LEARNERS": "alice grader"}, "would give a server to grader"),
    ({"LOCKSTEP_LEARNERS": "alice teacher"}, "would give a server to teacher"),
    ({"LOCKSTEP_LEARNERS_GROUP": "daemon"}, "would give a server to daemon"),
    ({"LOCKSTEP_LEARNERS": "alice", "LOCKSTEP_LEARNERS_PASSWORD": "many-little-ranks"}, "stands in the environment"),
]


@pytest.mark.parametrize(
    ("settings", "sentence"), REFUSED, ids=[" ".join(name[9:] for name in settings) for settings, _ in REFUSED]
)
def test_a_hub_with_such_settings_says_so_and_does_not_start(
    house: House, settings: dict[str, str], sentence: str
) -> None:
    said = house.refuses(**({"LOCKSTEP_LEARNERS_FILE": ""} | settings))
    assert sentence in said
    assert "Traceback" not in said


def test_a_hub_whose_files_are_open_says_so_and_does_not_start(house: House) -> None:
    grading, learners = house.course / "grading", house.at / "learners"
    with changed(grading, 0o755):
        assert f"Others than grader can look into {grading}, with the gradebook" in house.refuses()
    with changed(house.exchange, 0o777):
        assert f"chmod 1777 {house.exchange}" in house.refuses()
    with changed(house.home("bob"), 0o755):
        assert f"chmod 700 {house.home('bob')}" in house.refuses()
    with changed(learners, 0o646):
        assert f"its users can change {learners}" in house.refuses()


@contextmanager
def changed(path: Path, mode: int) -> Iterator[None]:
    before = path.stat().st_mode
    path.chmod(mode)
    try:
        yield
    finally:
        path.chmod(before)


def tried(visitor: Visitor, asked: list[tuple[str, Path]]) -> dict[str, str]:
    """What became of each, on the visitor's server."""
    found: dict[str, str] = json.loads(
        visitor.run(TRY.format(asked=json.dumps([(what, str(path)) for what, path in asked])))
    )
    assert len(found) == len(asked)
    return found


def written(path: Path, owner: str) -> None:
    """As a careless owner leaves it: readable to all who come to it."""
    missing = [folder for folder in path.parents if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("a secret")
    for made in (path, *missing):
        os.chown(made, UIDS[owner], UIDS[owner])
    path.chmod(0o644)
