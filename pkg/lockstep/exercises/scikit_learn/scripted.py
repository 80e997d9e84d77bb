"""Fits whose CPU seconds are written down beforehand, so that who measures them is not misled by a busy machine.

``played(script)``      a ``measure`` that only reports the seconds
``performed(script)``   one that really spends them, in threads and a process of this machine, and measures that
"""

from __future__ import annotations

import multiprocessing
import threading
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from lockstep.classical.knobs import Measure, settle
from lockstep.classical.usage import Usage, usage
from lockstep.errors import UsageError

LEAST = 0.25  # a knob counts if others take over so much more of the CPU time


@dataclass(frozen=True)
class Script:
    """A fit that does ``work`` seconds of work. With ``knob`` at 2, ``by`` do a ``share`` of it; with ``also`` at 2,
    helpers do a share ``less`` of what is left. ``vain``: seconds that another thread burns whatever the knobs say.
    ``threads`` live on idle once a knob was turned up. ``slower``: how many times as long it then takes on the wall."""

    knob: str = ""  # "openmp", "blas" or "n_jobs"
    by: str = "helpers"  # or "children"
    share: float = 0.5
    work: float = 0.6
    vain: float = 0.0
    threads: int = 0
    slower: float = 0.8
    also: str = ""  # another knob; it does not count
    less: float = 0.2

    @property
    def kind(self) -> str:
        """What it should be called."""
        if not self.knob or self.share * self.work / (self.work + self.vain) < LEAST:
            return "serial"
        return self.knob if self.knob != "n_jobs" else "processes" if self.by == "children" else "threads"

    def seconds(self, **knobs: int) -> tuple[float, float, float]:
        """Of CPU time: of the caller, of other threads, of other processes."""
        for name, value in knobs.items():
            if type(value) is not int or value < 1:
                problem = f"measure({name}={value!r}): a knob is a number of threads or processes, 1 or more."
                raise UsageError(problem, "Turn one knob to 2, and leave the others at 1.")
        moved = self.work * min(1.0, 2 * self.share * (1 - 1 / knobs.get(self.knob, 1)))
        more = (self.work - moved) * min(1.0, 2 * self.less * (1 - 1 / knobs.get(self.also, 1)))
        helped = moved if self.by == "helpers" else 0.0
        return self.work - moved - more, self.vain + helped + more, moved - helped

    def elsewhere(self, **knobs: int) -> float:
        """The share of the CPU time that others than the caller spend."""
        main, helpers, children = self.seconds(**knobs)
        return (helpers + children) / (main + helpers + children)


def played(script: Script) -> Measure:
    def measure(openmp: int = 1, blas: int = 1, n_jobs: int = 1) -> Usage:
        main, helpers, children = script.seconds(openmp=openmp, blas=blas, n_jobs=n_jobs)
        turned = max(openmp, blas, n_jobs) > 1
        workers = sum(s > 0.1 * (main + helpers + children) for s in (main, helpers, children))
        wall = script.work * (script.slower if turned else 1.0)
        threads = 1 + (helpers > 0) + (script.threads if turned else 0)
        return Usage(wall, main, helpers, children, 0.0, threads, workers)

    return measure


def performed(script: Script) -> Measure:
    # Forking this process costs more than the work: once is enough.
    pool = multiprocessing.get_context("fork").Pool(1) if script.by == "children" else None

    def measure(openmp: int = 1, blas: int = 1, n_jobs: int = 1) -> Usage:
        seconds = script.seconds(openmp=openmp, blas=blas, n_jobs=n_jobs)
        settle()
        return usage(lambda: _perform(pool, *seconds))

    return measure


def _perform(pool: Any, main: float, helpers: float, children: float) -> None:
    helper = threading.Thread(target=_spend, args=(helpers,))
    helper.start()
    child = pool.apply_async(_spend, (children,)) if children else None
    _spend(main)
    helper.join()
    if child:
        child.wait()


def _spend(seconds: float) -> None:
    """So much CPU time of this thread, without the GIL for most of it."""
    numbers, until = np.linspace(0, 1, 20_000), time.thread_time() + seconds
    while time.thread_time() < until:
        np.tan(numbers)
