"""Where estimators are fitted: by a worker, in a task, or by the caller before anything is handed out.

A list of tasks that only hand on what was computed in their arguments looks parallel to whoever counts tasks."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from lockstep.checks.judge import Fault
from lockstep.checks.scikit_learn.tasks import inside_a_task

Fits = dict[str, int]  # "inside" of tasks, and "outside"


@contextmanager
def fits_counted(kind: type[Any]) -> Iterator[Fits]:
    """How often estimators of that class are fitted meanwhile, and where."""
    fits, lock, fit = {"inside": 0, "outside": 0}, threading.Lock(), kind.fit

    @functools.wraps(fit)
    def counted(*args: Any, **kwargs: Any) -> Any:
        with lock:
            fits["inside" if inside_a_task() else "outside"] += 1
        return fit(*args, **kwargs)

    with patch.object(kind, "fit", counted):
        yield fits


def fitted_beforehand(fits: Fits, n_jobs: int) -> Fault | None:
    """None if workers did the fitting. With one worker joblib works on the spot, and nothing is said."""
    if n_jobs == 1 or fits["inside"] or not fits["outside"]:
        return None
    message = (
        f"With n_jobs={n_jobs} all {fits['outside']} fits were done before any worker began: your tasks only hand on "
        "what is there already. What stands in the brackets of a task is computed at once, by the caller. Put the fit "
        "into the function that delayed gets."
    )
    return Fault("called-at-once", message)
