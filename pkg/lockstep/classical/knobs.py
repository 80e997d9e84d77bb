"""The three knobs of a scikit-learn fit: OpenMP threads, BLAS threads, and joblib's ``n_jobs``.

To find out which of them a fit uses, turn up one and leave the others at 1. Idle threads may still burn CPU time for a
while: OpenBLAS lets them spin before they sleep. So a measurement begins when all are asleep.

On macOS NumPy may use Apple's Accelerate, whose threads cannot be limited while the process runs. There the BLAS knob
has no effect; the audit keeps Accelerate at one thread, and reports as serial what only BLAS makes parallel.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from lockstep.classical.usage import Usage, children_cpu, usage

# The environment before Python starts: idle threads of OpenMP and OpenBLAS sleep at once, and pools start with one.
SLEEPING = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "OMP_WAIT_POLICY": "PASSIVE",
    "KMP_BLOCKTIME": "0",
    "OPENBLAS_THREAD_TIMEOUT": "4",  # 2**4 cycles
}


class Measure(Protocol):
    """Runs one fit with these knobs and returns its Usage: who did the work."""

    def __call__(self, openmp: int = 1, blas: int = 1, n_jobs: int = 1) -> Usage: ...


def measuring(fit: Callable[[int], Any]) -> Measure:
    """``measure(openmp=1, blas=1, n_jobs=1)`` for ``fit(n_jobs)``; a fit without that parameter ignores it.

    The libraries whose threads are limited must be imported before: ``fit`` must not import them.
    """

    def measure(openmp: int = 1, blas: int = 1, n_jobs: int = 1) -> Usage:
        with turned(openmp, blas):
            settle()
            return usage(lambda: fit(n_jobs))

    return measure


@contextmanager
def turned(openmp: int, blas: int) -> Iterator[None]:
    """Limit all loaded OpenMP and BLAS libraries to so many threads."""
    from threadpoolctl import threadpool_limits  # of the course: figures of audits, which import this, need none

    with threadpool_limits(openmp, user_api="openmp"), threadpool_limits(blas, user_api="blas"):
        yield


def settle(longest: float = 0.3, pause: float = 0.005, calm: int = 4) -> None:
    """Wait until idle threads stop spinning and child processes have started, at most ``longest`` seconds.

    That is after ``calm`` pauses without CPU time: in a single one, a spinning thread may just be waiting for a
    core."""
    deadline, quiet = time.monotonic() + longest, 0
    before = _spent()
    while quiet < calm and time.monotonic() < deadline:
        time.sleep(pause)
        after = _spent()
        quiet = quiet + 1 if after - before < pause / 10 else 0
        before = after


def _spent() -> float:
    return time.process_time() - time.thread_time() + sum(children_cpu().values())
