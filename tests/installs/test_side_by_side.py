"""Commands that run side by side: what they write, and that nothing of them is left, however it ends."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from lockstep.errors import LockstepError, TimeLimit
from lockstep.installs.side_by_side import Command, side_by_side

WAITS = "import os, pathlib, time; pathlib.Path('pid').write_text(str(os.getpid())); time.sleep(600)"


def python(code: str, **env: str) -> Command:
    return Command([sys.executable, "-c", code], env)


def gone(pid: int) -> bool:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            if psutil.Process(pid).status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False


def pid_in(folder: Path) -> int:
    until = time.monotonic() + 60
    while not ((folder / "pid").exists() and (folder / "pid").read_text()) and time.monotonic() < until:
        time.sleep(0.02)
    return int((folder / "pid").read_text())


def test_each_has_its_variables_and_nothing_else(tmp_path: Path) -> None:
    said = side_by_side(
        [python("import os; print(os.environ['N'], 'HOME' in os.environ)", N=n) for n in "01"], tmp_path, 60
    )
    assert sorted(said.splitlines()) == ["0 False", "1 False"]


def test_when_one_fails_the_others_are_ended_and_its_reason_is_told(tmp_path: Path) -> None:
    """A worker that waits for another one waits for ever."""
    fails = (
        "import pathlib, time\nwhile not pathlib.Path('pid').exists(): time.sleep(0.01)\nraise ValueError('no port')"
    )
    with pytest.raises(LockstepError, match="It failed: ValueError: no port"):
        side_by_side([python(WAITS), python(fails)], tmp_path, 60)
    assert gone(pid_in(tmp_path))


def test_when_the_time_is_up_they_are_ended(tmp_path: Path) -> None:
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {WAITS!r}])"
    with pytest.raises(TimeLimit, match="3 s were over"):
        side_by_side([python(child)], tmp_path, 3)
    assert gone(pid_in(tmp_path))


def test_when_whoever_started_them_is_killed_they_are_ended(tmp_path: Path) -> None:
    code = (
        "import pathlib, sys; from lockstep.installs.side_by_side import Command, side_by_side; "
        f"side_by_side([Command([sys.executable, '-c', {WAITS!r}], {{}})], pathlib.Path({str(tmp_path)!r}), 600)"
    )
    with subprocess.Popen([sys.executable, "-c", code]) as starter:
        pid = pid_in(tmp_path)
        starter.kill()
    assert gone(pid)
