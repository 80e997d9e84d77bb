"""Loading torch takes seconds: a command that starts ranks does so once, and not once more in a server. What makes
later forks cheaper waits until there are some."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lockstep.forking.forkserver import WORTH
from lockstep.forking.hugepages import collapse
from lockstep.forking.starter import Forked, Starter, forks

WHO = """
import os
import psutil

def who():
    return [" ".join(p.cmdline()) for p in psutil.Process().parents()[:2]]

def knows():
    with open("/proc/self/environ") as begun_with:
        return "a-secret" in begun_with.read() or "LOCKSTEP_SEED" in os.environ
"""


def told_by_a_rank(folder: Path, function: str, **more: str) -> str:
    (folder / "who.py").write_text(WHO)
    command = [sys.executable, "-m", "lockstep", "run", f"who.py:{function}", "--ranks", "1", "--on", "processes"]
    environment = {**os.environ, **more}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


@pytest.mark.skipif(not forks(), reason="processes are not forked here")
def test_the_command_that_starts_ranks_is_their_server_too(tmp_path: Path) -> None:
    """`lockstep run` took twice as long: it loaded torch, and so did a server that it started."""
    told = told_by_a_rank(tmp_path, "who")
    assert "forkserver" not in told
    assert told.count("run who.py:who") == 2


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_command_that_has_a_secret_is_no_server(tmp_path: Path) -> None:
    """What a process began with stays in its memory, and in that of its forks."""
    assert "rank 0: False" in told_by_a_rank(tmp_path, "knows", LOCKSTEP_SEED="a-secret")


def huge(pid: int) -> int:
    """kB of a process's memory in huge pages."""
    told = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(told.partition("AnonHugePages:")[2].split()[0])


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists() or not forks(), reason="needs Linux")
def test_huge_pages_are_made_once_they_pay() -> None:
    """They were made before the first run, and took half a second of it."""
    if not collapse():
        pytest.skip("this system makes no huge pages")
    starter = Starter()
    try:
        found = []
        for ranks in (1, WORTH):
            for child in starter.start("lockstep.launch.rank_process:main", ranks):
                child.close()
            assert isinstance(starter._server, Forked)
            found.append(huge(starter._server.pid))
        for _ in range(200):  # they are made one by one, while nobody asks
            if huge(starter._server.pid) > found[0] + 10_000:
                break
            time.sleep(0.1)
        found.append(huge(starter._server.pid))
    finally:
        starter.close()
    assert found[-1] > found[0] + 10_000, found
