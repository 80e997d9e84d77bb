"""Shared memory that ranks leave behind: segments of ``multiprocessing.shared_memory`` that nobody has unlinked.

They have names, and outlive every process. Python unlinks what is left by a process of its own, the resource tracker;
but that of a rank is killed with the rank. So ranks write to a file what they would tell the tracker, and their starter
unlinks what is left at the end of the run::

    REGISTER shared_memory /psm_1f2e3d4c
    UNREGISTER shared_memory /psm_1f2e3d4c
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

SEGMENTS = Path("/dev/shm")


@contextlib.contextmanager
def tidied() -> Iterator[str]:
    """A context of a run, with the file for ``track``, which is in memory: "" where that is impossible (macOS). At its
    end, unlink what ranks have registered, but for what was there before: they may attach what is not theirs."""
    try:
        before, file = set(os.listdir(SEGMENTS)), os.fdopen(os.memfd_create("shared-memory"), "rb")
    except (OSError, AttributeError):
        yield ""
        return
    with file:
        try:
            yield f"/proc/{os.getpid()}/fd/{file.fileno()}"
        finally:
            for name in left(file.read().decode(errors="replace")) - before:
                with contextlib.suppress(OSError, ValueError):
                    os.unlink(SEGMENTS / name)


def track(file: str) -> None:
    """In a rank: register shared memory in ``file``. It is private API of Python (3.8 to 3.14) that is replaced here;
    where it is called otherwise, Python's own tracker goes on."""
    tracker: Any = resource_tracker._resource_tracker
    if not file or not hasattr(tracker, "_send"):
        return
    with contextlib.suppress(OSError):
        log = os.open(file, os.O_WRONLY | os.O_APPEND)
        tracker._send = lambda command, name, kind: os.write(log, f"{command} {kind} {name}\n".encode())


def left(told: str) -> set[str]:
    """The names of the segments that are registered after all that was told."""
    names: set[str] = set()
    for line in told.splitlines():
        command, _, rest = line.partition(" shared_memory /")
        if rest and "/" not in rest:
            (names.add if command == "REGISTER" else names.discard)(rest)
    return names
