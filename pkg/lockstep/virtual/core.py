"""All ranks on one core of the host, and in one heap: only one of them runs at any time anyway.

Left alone, the system wakes the rank that gets the baton on another, idle core, and its C library gives threads heaps
of their own. So the code and the data of every message are in no cache. Microseconds of CPU time a message, isend and
irecv in a ring, two cores:

    ranks                                          4      64     256
    left alone                                    51      63      88
    on one core                                   24      35      51
    and no rank that wakes interrupts another     22      31      43
    and in one heap                               21      27      38
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import time
from collections.abc import Set
from pathlib import Path
from typing import NamedTuple

M_ARENA_MAX = -8  # of glibc's mallopt
STARVED = 0.8  # of the time: a cluster that gets less of its core than that looks for a better one


class Usage(NamedTuple):
    """Seconds so far: of the wall, of this process on a processor, and those in which each core was idle."""

    wall: float
    mine: float
    idle: dict[int, float]


def usage(cores: Set[int], stat: Path = Path("/proc/stat")) -> Usage:
    ticks = os.sysconf("SC_CLK_TCK")
    rows = [line.split() for line in stat.read_text().splitlines() if line[3:4].isdigit()]  # cpu0 user nice system idle
    idle = {int(row[0][3:]): int(row[4]) / ticks for row in rows}
    return Usage(time.monotonic(), time.process_time(), {core: idle[core] for core in idle.keys() & cores})


def better_core(mine: int, before: Usage, now: Usage) -> int:
    """Where to be from now on: on core ``mine``, as long as it gives nearly all that it has. Otherwise on the one of
    the others that was idle for longest. If they are all as busy, this cluster gets its share by going about."""
    if now.mine - before.mine >= STARVED * (now.wall - before.wall):
        return mine
    idle = {core: now.idle[core] - before.idle[core] for core in now.idle.keys() & before.idle.keys() - {mine}}
    return max(idle, key=lambda core: idle[core], default=mine)


class OneCore:
    """Keeps this process on one core: to begin with the one where the system has put it."""

    def __init__(self) -> None:
        self._allowed: Set[int] = os.sched_getaffinity(0)
        self._core: int = ctypes.CDLL(None).sched_getcpu()
        self._before = usage(self._allowed)
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)  # glibc's; where it is missing, nothing has been done yet
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))  # whose threads do not interrupt each other
        os.register_at_fork(after_in_child=self._release)
        os.sched_setaffinity(0, {self._core})  # last: a process that stays here must be able to move on

    def look_again(self) -> None:
        """Others may want this core, too: then all threads of the process move to a better one."""
        before, self._before = self._before, usage(self._allowed)
        core = better_core(self._core, before, self._before)
        if core != self._core:
            self._core = core
            for thread in os.listdir("/proc/self/task"):  # after a fork, threading's native_id is that of the parent
                with contextlib.suppress(OSError):  # it has ended
                    os.sched_setaffinity(int(thread), {core})

    def _release(self) -> None:
        """A process that a rank forks (a worker of a DataLoader) may go where it likes."""
        os.sched_setaffinity(0, self._allowed)
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def one_core() -> OneCore | None:
    """None where a process cannot be kept on a core (macOS), or may not choose."""
    with contextlib.suppress(AttributeError, OSError):
        return OneCore()
    return None
