"""Fits whose parallelism a learner finds out by measuring: real ones, of some 0.01 s of CPU time each.

All take ``n_jobs``, as estimators do that ignore it. They are smaller than any of scikit-learn's, which would take
seconds to import: ``np.tan`` releases the GIL, and no library makes it parallel; NumPy's ``@`` is BLAS, and torch's
``lgamma`` is OpenMP.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed

Fit = Callable[[int], object]
NUMBERS, PARTS = 100_000, 30


def hidden(name: str) -> Fit:
    """The fit of that name, with everything that it needs drawn and started."""
    return {
        "blas": _blas,
        "burner": _burner,
        "openmp": _openmp,
        "processes": _processes,
        "serial": _serial,
        "threads": _threads,
    }[name]()


def _work(part: int) -> None:
    np.tan(np.linspace(part, part + 1, NUMBERS))


def _serial() -> Fit:
    def fit(n_jobs: int) -> None:
        for part in range(PARTS):
            _work(part)

    return fit


def _burner() -> Fit:
    """As serial, beside a thread that does as much in vain."""
    serial = _serial()

    def fit(n_jobs: int) -> None:
        beside = threading.Thread(target=serial, args=(n_jobs,))
        beside.start()
        serial(n_jobs)
        beside.join()

    return fit


def _threads() -> Fit:
    return lambda n_jobs: Parallel(n_jobs=n_jobs, backend="threading")(delayed(_work)(part) for part in range(PARTS))


def _processes() -> Fit:
    """A map over parts by forked workers, which are started once: forking this process costs more than the work.

    Not joblib's processes: these bring one more process with them, which takes its time to come up."""
    pools: dict[int, Any] = {}

    def fit(n_jobs: int) -> None:
        if n_jobs == 1:
            for part in range(PARTS):
                _work(part)
            return
        pool = pools.get(n_jobs) or pools.setdefault(n_jobs, _started(n_jobs))
        pool.map(_work, range(PARTS), chunksize=3)

    return fit


def _started(n_jobs: int, tries: int = 20) -> Any:
    """A pool all of whose workers have done something: on a busy machine one may come up long after the others."""
    pool = multiprocessing.get_context("fork").Pool(n_jobs)
    met: set[int] = set()
    while len(met) < n_jobs and tries:
        met |= set(pool.map(_meet, range(4 * n_jobs), chunksize=1))
        tries -= 1
    return pool


def _meet(_: int) -> int:
    time.sleep(0.005)
    return os.getpid()


def _blas() -> Fit:
    matrix = np.random.default_rng(0).random((640, 640))
    return lambda n_jobs: matrix @ matrix


def _openmp() -> Fit:
    """One long loop on threads: after many short ones, the caller would spend its time waiting for the others."""
    numbers = torch.linspace(1, 9, 800_000, dtype=torch.float64)
    result = torch.empty_like(numbers)
    return lambda n_jobs: torch.lgamma(numbers, out=result)
