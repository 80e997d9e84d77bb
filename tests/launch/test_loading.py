"""Loading torch takes seconds: a command that starts ranks does so once, and not once more in a server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

WHO = """
import os
import psutil

def who():
    return [" ".join(p.cmdline()) for p in psutil.Process().parents()[:2]]
"""


def test_the_command_that_starts_ranks_is_their_server_too(tmp_path: Path) -> None:
    """`lockstep run` took twice as long: it loaded torch, and so did a server that it started."""
    (tmp_path / "who.py").write_text(WHO)
    command = [sys.executable, "-m", "lockstep", "run", "who.py:who", "--ranks", "1", "--on", "processes"]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True).stdout
    assert "forkserver" not in told
    assert told.count("run who.py:who") == 2
