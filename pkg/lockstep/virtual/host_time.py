"""Host time for a run's limits: seconds in which it ran, or slept, without those in which other programs had its core.

A check's answers have a few seconds. On a busy machine a right one was told that it did not end in time.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

MOST = 4.0  # times as long, at most, as a limit says; then it is over on any machine
PAUSE = 1.0  # seconds between two looks at the threads: one took 0.1 ms of 4 ranks, and 17 ms of 1,024 (2026-11)


class HostTime:
    """A clock of a process, in seconds from its creation. It stands still while threads of the process wait for a core,
    as long as it has gone for a quarter (1 / ``MOST``) of the wall-clock time. Where the kernel doesn't tell (``proc``
    is not there), it is the wall clock."""

    def __init__(self, pid: int | str = "self", proc: Path = Path("/proc")) -> None:
        self._tasks = proc / str(pid) / "task"
        self._began = self._looked = time.monotonic()
        self._waited = self._waits()
        self._lost = 0.0

    def now(self) -> float:
        if (passed := time.monotonic() - self._looked) > PAUSE:
            before, self._waited = self._waited, self._waits()
            more = sum(max(0.0, s - before.get(thread, 0.0)) for thread, s in self._waited.items())
            self._looked += passed
            self._lost = min(self._lost + min(more, passed), (self._looked - self._began) * (1 - 1 / MOST))
        return time.monotonic() - self._began - self._lost

    def _waits(self) -> dict[str, float]:
        """For how many seconds each thread has been ready to run without a core (the second number of ``schedstat``, in
        nanoseconds; Linux, Documentation/scheduler/sched-stats)."""
        found = {}
        with contextlib.suppress(OSError):
            for thread in os.listdir(self._tasks):
                try:
                    with open(f"{self._tasks}/{thread}/schedstat", "rb", buffering=0) as told:
                        found[thread] = int(told.read(100).split()[1]) / 1e9
                except (OSError, ValueError, IndexError):  # it has ended meanwhile
                    pass
        return found
