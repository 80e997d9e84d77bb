"""Who fitted what: every fit and every prediction of estimators of one class, on which rows, in which task. Facts, no
sentences.

A list of tasks that only hand on what was computed in their arguments looks parallel to whoever counts tasks. And
threads that fit one estimator at once get results, or none, by chance: here they take turns, which is harmless, and it
is written down, which is certain.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np

from lockstep.exercises.scikit_learn.joblib_tasks import Task, task_here


@dataclass
class Fit:
    """``rows`` and ``predicted`` are numbers of rows of X, -1 for any that is not in it."""

    estimator: Any
    rows: list[int]
    labels: bool  # each row with its own label
    told: dict[str, str]  # its parameters
    task: Task | None
    predicted: list[int] = field(default_factory=list)


@dataclass
class Fits:
    """``every`` fit, and the ``seeds`` that default_rng was given, as text."""

    every: list[Fit] = field(default_factory=list)
    seeds: list[str] = field(default_factory=list)

    def of(self, estimator: Any) -> Fit | None:
        """The last one of this estimator."""
        return next((fit for fit in reversed(self.every) if fit.estimator is estimator), None)

    @property
    def counts(self) -> list[int]:
        """How many were done in tasks, and in all; and how many tasks did any."""
        inside = [fit.task.number for fit in self.every if fit.task]
        return [len(inside), len(self.every), len({*inside})]

    @property
    def contested(self) -> int:
        """The most tasks, threads all of them, that fitted one estimator; 1 or less is harmless."""
        tasks: dict[int, set[int]] = {}
        for fit in self.every:
            if fit.task and fit.task.shared:
                tasks.setdefault(id(fit.estimator), set()).add(fit.task.number)
        return max(map(len, tasks.values()), default=0)


@contextmanager
def fits_seen(kind: type[Any], X: np.ndarray, y: np.ndarray) -> Iterator[Fits]:
    """What estimators of that class do meanwhile with rows of ``X``, which differ, and their labels."""
    seen, turn, fit, predict, generator = Fits(), threading.RLock(), kind.fit, kind.predict, np.random.default_rng
    numbers = {row.tobytes(): number for number, row in enumerate(X)}

    def rows_of(given: Any) -> list[int]:
        return [numbers.get(row.tobytes(), -1) for row in np.asarray(given, dtype=X.dtype)]

    @functools.wraps(fit)  # tasks that are methods travel by name
    def fitted(self: Any, X: Any, labels: Any, *more: Any, **settings: Any) -> Any:
        with turn:
            result, rows = fit(self, X, labels, *more, **settings), rows_of(X)
            right = -1 not in rows and bool(np.array_equal(y[rows], labels))
            seen.every.append(Fit(self, rows, right, {k: repr(v) for k, v in self.get_params().items()}, task_here()))
            return result

    @functools.wraps(predict)
    def predicted(self: Any, X: Any, *more: Any, **settings: Any) -> Any:
        with turn:
            last = seen.of(self)
            if last:
                last.predicted = rows_of(X)
            return predict(self, X, *more, **settings)

    def seeded(seed: Any = None) -> Any:
        plain = isinstance(seed, (int, np.integer, list, tuple))
        seen.seeds.append(str(np.asarray(seed).tolist()) if plain else type(seed).__name__)
        return generator(seed)

    with (
        patch.object(kind, "fit", fitted),
        patch.object(kind, "predict", predicted),
        patch.object(np.random, "default_rng", seeded),
    ):
        yield seen
