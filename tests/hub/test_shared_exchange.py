"""nbgrader's exchange on a shared disk, without a hub: each person a Linux user, at a shell, as docs/hub.md has it."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from house import COPIED, UIDS, House, need

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("shared exchange"), pytest.mark.timeout(900), COPIED]

LAB = "00_why_parallel"
RIGHT = "def amdahl(p, s):\n    return 1 / ((1 - p) + p / s)"
BRING = """from pathlib import Path
from lockstep.grading.course import root
from lockstep.grading.working_folder import bring
bring(root(), Path({!r}))"""


class Shells:
    """A shell of each person, in their home or in the course's clone."""

    def __init__(self, at: Path) -> None:
        self.house = House(at)
        self.exchange = self.house.exchange

    def folder(self, name: str) -> Path:
        return self.house.course if name == "grader" else self.house.home(name) / "lockstep-course"

    def types(self, name: str, *command: str, fails: bool = False) -> str:
        where = self.folder(name) if self.folder(name).exists() else self.house.home(name)
        inside = self.house.inside("/bin/sh", "-c", 'cd "$0" && exec "$@"', str(where), "runuser", "-u", name, "--")
        done = subprocess.run(
            [*inside, *command], env=self._environment(name), capture_output=True, text=True, timeout=400, check=False
        )
        assert (done.returncode != 0) is fails, (name, command, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def python(self, name: str, module: str, *words: str, fails: bool = False) -> str:
        return self.types(name, sys.executable, "-m", module, *words, fails=fails)

    def _environment(self, name: str) -> dict[str, str]:
        mine = {n: os.environ[n] for n in ("PYTHONPATH",) if n in os.environ}
        path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin:/bin:/usr/sbin:/sbin"])
        home = {"HOME": str(self.house.home(name)), "PATH": path, "LANG": "C.UTF-8"}
        return mine | home | {"NBGRADER_EXCHANGE": str(self.exchange), "LOCKSTEP_HOME": f"{home['HOME']}/.lockstep"}

    def begin(self, name: str) -> None:
        """What ``lockstep lab`` does before it starts JupyterLab."""
        self.types(name, sys.executable, "-c", BRING.format(str(self.folder(name))))

    def answer(self, name: str, source: str) -> None:
        file = self.folder(name) / "labs" / LAB / "lab.ipynb"
        notebook = json.loads(file.read_text())
        (cell,) = (c for c in notebook["cells"] if c["id"] == "answer-amdahl")
        cell["source"] = source
        file.write_text(json.dumps(notebook))
        os.chown(file, UIDS[name], UIDS[name])

    def submission(self, name: str) -> Path:
        (found,) = (self.exchange / "lockstep" / "inbound").glob(f"{name}+{LAB}+*")
        return found


@pytest.fixture(scope="module")
def shells() -> Iterator[Shells]:
    need(os.geteuid() == 0 and sys.platform == "linux", "only root of a Linux can be several users")
    need(shutil.which("bwrap") is not None, "there is no bubblewrap here: sh scripts/system-packages hub")
    with tempfile.TemporaryDirectory(prefix="lockstep-shared-") as at:
        shells = Shells(Path(at))
        shells.python("grader", "nbgrader", "release_assignment", LAB)
        for name, answer in (("alice", RIGHT), ("bob", "def amdahl(p, s):\n    return s")):
            shells.begin(name)
            shells.answer(name, answer)
            shells.python(name, "nbgrader", "submit", LAB)
        yield shells


def test_the_lab_can_be_fetched_by_whoever_has_no_copy_of_the_course(shells: Shells) -> None:
    where = ("--course", "lockstep", f"--Exchange.root={shells.exchange}")
    shells.python("teacher", "nbgrader", "fetch_assignment", LAB, *where)
    assert (shells.house.home("teacher") / LAB / "lab.ipynb").exists()


def test_no_learner_finds_another_submission_or_changes_it(shells: Shells) -> None:
    handed_in, inbound = shells.submission("alice"), shells.exchange / "lockstep" / "inbound"
    assert handed_in.stat().st_uid == UIDS["alice"]
    assert not shells.house.may("bob", "os.listdir", inbound)
    assert shells.house.may("grader", "os.listdir", inbound)
    assert "denied" in shells.types("bob", "/bin/sh", "-c", 'echo x >>"$0"', str(handed_in / "lab.ipynb"), fails=True)
    of_course = str(shells.exchange / "lockstep")
    assert "not permitted" in shells.types("bob", "mv", of_course, f"{of_course}-of-bob", fails=True)


def test_what_was_handed_in_is_collected_graded_and_goes_back(shells: Shells) -> None:
    shells.python("grader", "nbgrader", "collect", LAB)
    shells.python("grader", "lockstep", "grade", LAB, "--unsafe")  # this house allows no sandbox
    with (shells.house.course / "grading" / f"{LAB}.csv").open(encoding="utf-8") as file:
        points = {row["student"]: float(row["amdahl"]) for row in csv.DictReader(file)}
    assert points == {"alice": 1.0, "bob": 0.0}
    shells.python("grader", "nbgrader", "release_feedback", LAB)
    shells.python("alice", "nbgrader", "fetch_feedback", LAB)
    (page,) = (shells.folder("alice") / "labs" / LAB / "feedback").glob("*/lab.html")
    assert "1 of 10 points for the core exercises." in page.read_text(encoding="utf-8")
    assert page.stat().st_uid == UIDS["alice"]


def test_who_hands_in_as_another_is_named_when_it_is_collected(shells: Shells) -> None:
    """The kernel says whose the files are, and nbgrader compares that with the name."""
    shells.begin("mallory")
    shells.python("mallory", "nbgrader", "submit", LAB, "--student", "eve")
    told = shells.python("grader", "nbgrader", "collect", LAB)
    assert "eve" in told
    assert "mallory" in told
