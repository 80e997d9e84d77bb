"""The processes that the fork server of this process has started."""

from __future__ import annotations

import signal
import time
from pathlib import Path

from lockstep.forking import starter

PREPARES, WAITS = "lockstep-warms", "lockstep-spare"
PF_EXITING = 0x4  # linux/sched.h


def pid() -> int:
    running = starter._starter._server
    assert isinstance(running, starter.Forked)
    return running.pid


def children() -> list[int]:
    server_pid = pid()
    return [int(c) for c in Path(f"/proc/{server_pid}/task/{server_pid}/children").read_text().split()]


def spares() -> list[int]:
    """Those that are ready."""
    return [c for c in children() if name(c) == WAITS]


def ranks(seconds: float = 2.0) -> list[int]:
    """Those that run, or could run on: neither spares nor killed. A spare that has just been forked bears a rank's
    name for a moment: those that are found are looked at until they have another, for so long at most."""
    for _ in range(int(seconds / 0.02)):
        if not (found := [c for c in children() if name(c) not in (PREPARES, WAITS, "") and not killed(c)]):
            break
        time.sleep(0.02)
    return found


def name(child: int) -> str:
    try:
        return Path(f"/proc/{child}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def killed(child: int) -> bool:
    """Whether it has executed its last instruction: SIGKILL is on its way, or it is on its way out."""
    try:
        flags = int(Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[6])
        told = dict(line.split(":\t") for line in Path(f"/proc/{child}/status").read_text().splitlines())
    except (FileNotFoundError, ProcessLookupError):
        return True
    return bool(flags & PF_EXITING or int(told["SigPnd"], 16) >> (signal.SIGKILL - 1) & 1)


def settled(number: int, seconds: float = 20.0) -> list[int]:
    """The spares, when there are as many as that and nothing else is left of earlier runs."""
    for _ in range(int(seconds / 0.02)):
        if len(found := spares()) == number == len(children()):
            return found
        time.sleep(0.02)
    raise AssertionError(f"{number} spares were expected: {[(c, name(c)) for c in children()]}")
