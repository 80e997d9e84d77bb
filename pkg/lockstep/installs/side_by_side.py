"""Commands that run side by side, each a process; nothing outlives them.

A warden starts them, in a group of its own. It ends all of them when one has failed, when the time is up, or when
whoever started the warden is gone, killed or not: then its stdin ends.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lockstep.errors import LockstepError, TimeLimit
from lockstep.installs.heard import reason

WARDEN = """
import json, os, signal, subprocess, sys, threading, time

def watch():
    sys.stdin.read()
    os.killpg(0, signal.SIGKILL)

threading.Thread(target=watch, daemon=True).start()
running = [subprocess.Popen(c, env=e, stdin=subprocess.DEVNULL) for c, e in json.loads(sys.argv[1])]
while running:
    ended = [p for p in running if p.poll() is not None]
    if failed := [p for p in ended if p.returncode]:
        os._exit(1)
    running = [p for p in running if p not in ended]
    time.sleep(0.02)
os._exit(0)
"""


@dataclass(frozen=True)
class Command:
    """A program with its arguments, and all of its environment variables."""

    argv: Sequence[str]
    env: Mapping[str, str]


def side_by_side(commands: Sequence[Command], folder: Path, timeout: float) -> str:
    """Run the commands in ``folder`` until all have ended; what they have written to stdout.

    Raises LockstepError if one of them failed, with the reason from stderr; TimeLimit after ``timeout`` seconds."""
    told = json.dumps([[list(one.argv), dict(one.env)] for one in commands])
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+", errors="replace") as complained:
        warden = subprocess.Popen(
            [sys.executable, "-S", "-c", WARDEN, told], cwd=folder, stdin=subprocess.PIPE, stdout=said,
            stderr=complained, start_new_session=True,
        )  # fmt: skip
        try:
            status = warden.wait(timeout)
        except subprocess.TimeoutExpired:
            raise TimeLimit(f"{timeout:g} s were over before all of it had ended.") from None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(warden.pid, signal.SIGKILL)
            warden.communicate()
        if status:
            complained.seek(0)
            raise LockstepError(f"It failed: {reason(complained.read().splitlines())}")
        said.seek(0)
        return said.read()
