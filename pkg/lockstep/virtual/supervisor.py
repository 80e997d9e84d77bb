"""The host's side of a run: which core its ranks run on, and whether anything still happens in them.

All ranks share one core of the host and one heap, as only one of them runs at any time. Otherwise the system wakes the
rank that gets the baton on another, idle core, and the C library gives threads heaps of their own, so that the code and
the data of a message are never in a cache. Microseconds of CPU time a message, isend and irecv in a ring, two cores:

    ranks                                          4      64     256
    as the system schedules them                  51      63      88
    on one core                                   24      35      51
    and no rank that wakes interrupts another     22      31      43
    and in one heap                               21      27      38
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
import time
from collections.abc import Callable, Set
from pathlib import Path
from typing import NamedTuple

from lockstep import deadlock_report
from lockstep.virtual.host_time import HostTime

M_ARENA_MAX = -8  # of glibc's mallopt
STARVED = 0.8  # a cluster that gets less than this fraction of its core moves to another one


class Usage(NamedTuple):
    """Seconds so far: wall-clock time, CPU time of this process, and idle time of each core."""

    wall: float
    mine: float
    idle: dict[int, float]


def usage(cores: Set[int], stat: Path = Path("/proc/stat")) -> Usage:
    ticks = os.sysconf("SC_CLK_TCK")
    rows = [line.split() for line in stat.read_text().splitlines() if line[3:4].isdigit()]  # cpu0 user nice system idle
    idle = {int(row[0][3:]): int(row[4]) / ticks for row in rows}
    return Usage(time.monotonic(), time.process_time(), {core: idle[core] for core in idle.keys() & cores})


def better_core(mine: int, before: Usage, now: Usage) -> int:
    """The core to use from now on: ``mine``, as long as this process gets nearly all of it; otherwise the other core
    that was idle for longest. If all are equally busy, the cluster gets its share by moving between them."""
    if now.mine - before.mine >= STARVED * (now.wall - before.wall):
        return mine
    idle = {core: now.idle[core] - before.idle[core] for core in now.idle.keys() & before.idle.keys() - {mine}}
    return max(idle, key=lambda core: idle[core], default=mine)


class OneCore:
    """Pins this process to one core, at first the one on which the system has scheduled it."""

    def __init__(self) -> None:
        self._allowed: Set[int] = os.sched_getaffinity(0)
        self._core: int = ctypes.CDLL(None).sched_getcpu()
        self._before = usage(self._allowed)
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)  # of glibc; if it is missing, nothing has been changed so far
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))  # a woken thread does not preempt the running one
        os.register_at_fork(after_in_child=self._release)
        os.sched_setaffinity(0, {self._core})  # last: whoever is pinned must be able to move later

    def look_again(self) -> None:
        """If other processes use this core, move all threads of this process to a better one."""
        try:
            now = usage(self._allowed)
        except OSError:  # the ranks have opened as many files as this process may have
            return
        before, self._before = self._before, now
        core = better_core(self._core, before, now)
        if core != self._core:
            self._core = core
            for thread in os.listdir("/proc/self/task"):  # after a fork, threading's native_id is that of the parent
                with contextlib.suppress(OSError):  # it has ended
                    os.sched_setaffinity(int(thread), {core})

    def _release(self) -> None:
        """Undo the pinning in a process that a rank forks, such as a DataLoader's worker."""
        os.sched_setaffinity(0, self._allowed)
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def one_core() -> OneCore | None:
    """Pin this process to a core; None where that is impossible (macOS) or not permitted."""
    with contextlib.suppress(AttributeError, OSError):
        return OneCore()
    return None


GLANCE = 0.25  # seconds of host time between two checks


class Watch:
    """The watchdog of a run. Create it before the ranks' threads, which then start on the same core."""

    def __init__(self) -> None:
        self._core = one_core()

    def wait(
        self, ended: threading.Event, operations: Callable[[], float], timeout: float, patience: float
    ) -> tuple[float, bool] | None:
        """Wait for ``ended``, and return None; or, when the run has taken too long, return for how many seconds
        ``operations`` has not increased, and whether the run counts as stuck (after ``patience`` seconds, or if it was
        idle when its ``timeout`` was reached). All seconds are of ``HostTime``."""
        clock = HostTime()
        seen, since = -1.0, 0.0
        while not ended.wait(GLANCE):
            now = clock.now()
            if self._core:
                self._core.look_again()
            if operations() != seen:
                seen, since = operations(), now
            idle = now - since
            stuck = idle > patience or (now > timeout and idle >= min(deadlock_report.IDLE, timeout / 2))
            if stuck or now > timeout:
                return idle, stuck
        return None
