"""Fits whose parallelism a learner finds out by measuring: real ones, of some 0.02 s of CPU time each.

All take ``n_jobs``, as estimators do that ignore it. They are smaller than any of scikit-learn's, which would take
seconds to import: ``np.tan`` releases the GIL, and no library makes it parallel; NumPy's ``@`` is BLAS, and torch's
``tan`` is OpenMP.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import torch
from joblib import Parallel, delayed

Fit = Callable[[int], object]
NUMBERS, PARTS = 100_000, 60


def hidden(name: str) -> Fit:
    """The fit of that name, with everything that it needs drawn and started."""
    return {"openmp": _openmp, "blas": _blas, "serial": _serial, "burner": _burner}.get(name, lambda: _jobs(name))()


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


def _jobs(name: str) -> Fit:
    """A map over parts by joblib. Its workers are started once: forking this process costs more than the work."""
    backend = "threading" if name == "threads" else "multiprocessing"
    pools: dict[int, Parallel] = {}

    def fit(n_jobs: int) -> None:
        if n_jobs not in pools:
            pools[n_jobs] = Parallel(n_jobs=n_jobs, backend=backend, batch_size=15).__enter__()
        pools[n_jobs](delayed(_work)(part) for part in range(PARTS))

    return fit


def _blas() -> Fit:
    matrix = np.random.default_rng(0).random((800, 800))
    return lambda n_jobs: matrix @ matrix


def _openmp() -> Fit:
    numbers = torch.linspace(0, 1, 500_000, dtype=torch.float64)
    result = torch.empty_like(numbers)

    def fit(n_jobs: int) -> None:
        for _ in range(6):
            torch.tan(numbers, out=result)

    return fit
