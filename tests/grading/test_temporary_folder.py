"""However a grader ends, it leaves nothing in /tmp."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from lockstep.grading.syscalls import prctl
from lockstep.grading.temporary_folder import PREFIX, temporary_folder

ADOPTS = 36  # PR_SET_CHILD_SUBREAPER
GRADER = """
import sys, time
from pathlib import Path
from lockstep.grading.temporary_folder import temporary_folder
with temporary_folder() as folder:
    Path(folder / "deep").mkdir()
    Path(folder / "deep" / "lab.ipynb").write_text("of a learner's")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A /tmp of this test's own: other graders may be at work on this machine."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def _adopting() -> Iterator[None]:
    """Whatever is left without a parent becomes a child of the tests."""
    prctl(ADOPTS, 1)
    yield
    prctl(ADOPTS, 0)


def grader() -> tuple[subprocess.Popen[str], Path]:
    begun = subprocess.Popen([sys.executable, "-c", GRADER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert begun.stdout
    return begun, Path(begun.stdout.readline().strip())


@pytest.mark.usefixtures("_adopting")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_grader_leaves_nothing_behind(place, end):
    """It left a folder with what somebody had handed in, /tmp/lockstep-judge-…, for each judge."""
    before = {p.pid for p in psutil.Process().children()}
    begun, folder = grader()
    assert (folder.parent, (folder / "deep").is_dir()) == (place, True)
    begun.send_signal(end)
    begun.communicate()
    _, alive = psutil.wait_procs([p for p in psutil.Process().children() if p.pid not in before], timeout=60)
    assert not alive
    assert not list(place.iterdir())


def test_what_was_left_all_the_same_goes_with_the_next_grader_and_what_is_in_use_stays(place):
    """As of a machine that lost its power, and of an older Lockstep's graders."""
    left = place / f"{PREFIX}left"
    (left / "deep").mkdir(parents=True)
    elsewhere = place / "kept"
    elsewhere.mkdir()
    (place / f"{PREFIX}link").symlink_to(elsewhere)
    with temporary_folder() as first, temporary_folder() as second:
        assert not left.exists()
        assert (first.is_dir(), second.is_dir()) == (True, True)
    assert sorted(p.name for p in place.iterdir()) == ["kept", f"{PREFIX}link"]


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to give a folder to somebody else")
def test_what_is_somebody_elses_stays(place):
    theirs = place / f"{PREFIX}theirs"
    theirs.mkdir()
    os.chown(theirs, 65534, 65534)
    with temporary_folder():
        pass
    assert theirs.is_dir()
