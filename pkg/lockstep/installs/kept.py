"""Where what was installed is kept; one process at a time is at work there."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from lockstep.installs.heard import Tell


def kept(name: str) -> Path:
    """The folder of this name: in $LOCKSTEP_HOME, or the user's cache."""
    home = os.environ.get("LOCKSTEP_HOME") or platformdirs.user_cache_dir("lockstep", appauthor=False)
    return Path(home, name)


@contextmanager
def alone(folder: Path, tell: Tell, waiting: str, left: str = "building-*") -> Iterator[None]:
    """Lock: one process at a time. ``waiting`` is said if another one has it. What matches ``left`` was left behind by
    a process that was killed, and is deleted."""
    folder.mkdir(parents=True, exist_ok=True)
    with Path(folder, "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell(waiting, 0.0)
            fcntl.flock(lock, fcntl.LOCK_EX)
        for one in folder.glob(left):
            shutil.rmtree(one, ignore_errors=True)
        yield
