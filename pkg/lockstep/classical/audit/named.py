"""An estimator of the learner's choice, such as ``sklearn.svm:SVC``, as a row of the audit, on generated data."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from typing import Any

from lockstep.classical.audit.catalogue import Row, Subject, classes
from lockstep.errors import UsageError

LONG_ENOUGH = 0.1  # seconds of CPU time for one fit
MOST_ROWS = 64_000


def named(path: str) -> Row:
    """The row of ``MODULE:NAME``, where NAME is a class, or a function that returns the estimator.

    It is fitted to rows of 20 non-negative features with two classes (a regressor: a real target), 500 to 64,000 of
    them, as many as keep one thread busy for 0.1 s; then ``predict`` or ``transform`` is called on the same rows.
    Raises UsageError if there is no such name, or if it is no estimator."""
    kind = _find(path)
    estimator = _make(path, kind)
    if not hasattr(estimator, "fit"):
        raise UsageError(f"{path} is no estimator: it has no method fit.")
    return Row(path, "", lambda: _subject(path, kind), "n_jobs" in _parameters(estimator))


def _find(path: str) -> Callable[[], Any]:
    module, _, name = path.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Callable[[], Any] = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        remedy = "Name it as MODULE:CLASS, for example sklearn.svm:SVC."
        raise UsageError(f"There is no {name or 'class'} to import from {module!r}: {error}.", remedy) from None
    return found


def _make(path: str, kind: Callable[[], Any]) -> Any:
    try:
        return kind()
    except Exception as error:
        remedy = "Write a function without arguments that makes it, in a file of yours, and name that: my_file:make."
        raise UsageError(f"{path}() does not make an estimator: {type(error).__name__}: {error}", remedy) from None


def _parameters(estimator: Any) -> dict[str, Any]:
    return dict(estimator.get_params()) if hasattr(estimator, "get_params") else {}


def _subject(path: str, kind: Callable[[], Any]) -> Subject:
    """The estimator on enough rows: their number is doubled until a fit takes LONG_ENOUGH."""
    rows = 500
    while True:
        subject = _on(kind, rows)
        begin = time.process_time()
        try:
            subject.act(subject.make(1))
        except Exception as error:
            remedy = "Name a function that makes it with the settings that it needs: my_file:make."
            problem = f"{path} cannot be fitted to {rows} rows: {type(error).__name__}: {error}"
            raise UsageError(problem, remedy) from None
        if time.process_time() - begin > LONG_ENOUGH or rows >= MOST_ROWS:
            return subject
        rows *= 2


def _on(kind: Callable[[], Any], rows: int) -> Subject:
    from sklearn.base import is_regressor

    X, y = classes(rows=rows)
    X = X - X.min()
    target = X[:, 0] + y if is_regressor(kind()) else y

    def make(n_jobs: int) -> Any:
        estimator = kind()
        return estimator.set_params(n_jobs=n_jobs) if "n_jobs" in _parameters(estimator) else estimator

    def act(estimator: Any) -> None:
        estimator.fit(X, target)
        method = next((m for m in ("predict", "transform") if hasattr(estimator, m)), None)
        if method:
            getattr(estimator, method)(X)

    return Subject(make, act)
