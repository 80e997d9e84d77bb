"""A grader that is killed at any moment, and started once more, leaves what an undisturbed one leaves.

Moments are events of the grader's own process, never seconds: what it opens, renames or forks, what it asks of the
gradebook, what a judge tells it. They are drawn from all of them, one from each part of the run. Ten of them:

    LOCKSTEP_KILLS=10 python -m pytest -n 0 tests/hostile/test_killed_grader.py
"""

from __future__ import annotations

import copy
import multiprocessing
import os
import random
import shutil
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
import sqlalchemy
from hostile_class import Class

from lockstep.cli import main
from lockstep.errors import WorldUnavailable
from lockstep.grading.sandbox_check import kind_of_sandbox
from lockstep.grading.temporary_folder import PREFIX

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("hostile"), pytest.mark.timeout(1800)]

KILLS = int(os.environ.get("LOCKSTEP_KILLS", "3"))
COUNT = "events"
FILES = ("open", "os.rename", "os.mkdir", "os.fork", "sqlite3.connect")  # as Python's audit names them


class Moments:
    """Counts what happens in this process, and kills it at the ``last`` event."""

    def __init__(self, course: Path, last: int) -> None:
        self.me, self.course, self.last, self.number = os.getpid(), str(course), last, 0

    def watch(self) -> None:
        sys.addaudithook(self._audited)
        sqlalchemy.event.listen(sqlalchemy.Engine, "before_cursor_execute", self._another)
        sqlalchemy.event.listen(sqlalchemy.Engine, "commit", self._another)
        Connection.recv = self._counted(Connection.recv)

    def _audited(self, event: str, told: tuple) -> None:
        if event in FILES and (event == "os.fork" or self.course in str(told[0])):
            self._another()

    def _counted(self, real: Callable) -> Callable:
        def counted(*args):
            self._another()
            return real(*args)

        return counted

    def _another(self, *told: object) -> None:
        if os.getpid() == self.me:  # and no judge, which is a fork
            self.number += 1
            if self.number == self.last:
                os.kill(self.me, signal.SIGKILL)


def graded(course: Path, lab: str, last: int = 0) -> int | None:
    """The exit code of a grader of its own, which is killed at its event number ``last``."""

    def run() -> None:
        os.setsid()
        os.chdir(course)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        moments = Moments(course, last)
        moments.watch()
        code = main(["grade", lab, "--jobs", "2"])
        (course / COUNT).write_text(str(moments.number))
        os._exit(code)

    grader = multiprocessing.get_context("fork").Process(target=run)
    grader.start()
    grader.join()
    return grader.exitcode


def left_by(room: Class) -> tuple[list[tuple], dict[str, dict[str, str]], dict[str, str]]:
    """The gradebook, the table, and what learners get."""
    pages = (room.course / "grading").glob("*/*/*/lab.*")
    return room.book(), room.table(), {str(p.relative_to(room.course)): p.read_text() for p in pages}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Two who are right and one who ends its process: what comes of them, and in how many events."""
    try:
        kind_of_sandbox()
    except WorldUnavailable as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("killed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOCKSTEP_HOME", str(folder / "home"))
        patch.setenv("LOCKSTEP_SEED", "a secret")
        room = Class(folder, "00_why_parallel", ["exit_zero"], grade=False)
        fresh = copied(room, folder / "fresh")
        assert graded(room.course, room.lab) == 0
        yield fresh, left_by(room), int((room.course / COUNT).read_text())


def copied(room: Class, to: Path) -> Class:
    other = copy.copy(room)
    other.course = Path(shutil.copytree(room.course, to, symlinks=True))
    return other


def moments(events: int) -> list[int]:
    """One event of each part of the run; the same ones every time."""
    chance = random.Random(0)
    return [1 + int(events * (part + chance.random()) / KILLS) for part in range(KILLS)]


@pytest.mark.parametrize("part", range(KILLS))
def test_a_killed_grader_leaves_the_same_gradebook_and_nothing_in_tmp(undisturbed, part, tmp_path, monkeypatch):
    fresh, left, events = undisturbed
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    last = moments(events)[part]
    room = copied(fresh, tmp_path / "course")
    assert graded(room.course, room.lab, last) == -signal.SIGKILL, f"event {last} of {events}"
    assert graded(room.course, room.lab) == 0
    assert left_by(room) == left
    assert not list((tmp_path / "tmp").glob(f"{PREFIX}*"))
    print(f"killed at event {last} of {events}")
