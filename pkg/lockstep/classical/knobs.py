"""The three knobs of a scikit-learn fit: OpenMP threads, BLAS threads, and joblib's ``n_jobs``.

To find out which of them a fit listens to, turn up one and leave the others at 1. Threads that have nothing to do may
still burn CPU for a while: OpenBLAS lets them spin before they sleep. So a measurement begins when all are asleep.

On macOS NumPy may come with Apple's Accelerate, whose threads nobody can limit while the process runs. There the BLAS
knob moves nothing; the audit holds Accelerate at one thread, and calls serial what only BLAS makes parallel.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from threadpoolctl import threadpool_limits

from lockstep.classical.usage import Usage, children_cpu, usage

# In the environment before Python starts: idle threads of OpenMP and OpenBLAS sleep at once, and pools begin with one.
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
    """Runs one fit with these knobs and tells who did the work."""

    def __call__(self, openmp: int = 1, blas: int = 1, n_jobs: int = 1) -> Usage: ...


def measuring(fit: Callable[[int], Any]) -> Measure:
    """``measure(openmp=1, blas=1, n_jobs=1)`` for ``fit(n_jobs)``; a fit without that parameter ignores it.

    The libraries whose threads are to be limited must have been imported before: ``fit`` shall not import them.
    """

    def measure(openmp: int = 1, blas: int = 1, n_jobs: int = 1) -> Usage:
        with turned(openmp, blas):
            settle()
            return usage(lambda: fit(n_jobs))

    return measure


@contextmanager
def turned(openmp: int, blas: int) -> Iterator[None]:
    """OpenMP and BLAS with so many threads each, wherever they are loaded."""
    with threadpool_limits(openmp, user_api="openmp"), threadpool_limits(blas, user_api="blas"):
        yield


def settle(longest: float = 0.3, pause: float = 0.005, calm: int = 4) -> None:
    """Wait until idle threads have stopped spinning and child processes have come up, ``longest`` seconds at most.

    ``calm`` pauses without any CPU time: after one alone, a thread that spins may just wait for a core."""
    deadline, quiet = time.monotonic() + longest, 0
    before = _spent()
    while quiet < calm and time.monotonic() < deadline:
        time.sleep(pause)
        after = _spent()
        quiet = quiet + 1 if after - before < pause / 10 else 0
        before = after


def _spent() -> float:
    return time.process_time() - time.thread_time() + sum(children_cpu().values())
