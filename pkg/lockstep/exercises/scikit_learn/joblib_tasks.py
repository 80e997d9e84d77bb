"""What a function hands to joblib: its calls of Parallel, with how many workers, tasks and bytes. Facts, no sentences.

While it is watched, Parallel runs its tasks on threads and records them. Where processes were asked for, every task
is pickled, and its copy is run, as in a process: what a task changes is lost, and only what it returns comes back.
(Starting real processes would take longer than all the rest.) With threads nothing is copied; what would have to be
sent to processes is weighed all the same. One worker does its tasks on the spot: these are no tasks.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from unittest.mock import patch

import cloudpickle
import joblib
import numpy as np

BETWEEN = ("joblib", "sklearn.utils", __name__)  # modules between Parallel and its caller
KINDS = {"_thread.lock": "a lock", "_thread.RLock": "a lock", "generator": "a generator", "module": "a module"}

_here = threading.local()  # ``task``: the one that this thread is in


class Refused(Exception):
    """Something was handed over that is no task, or cannot go to another process."""


@dataclass(frozen=True)
class Task:
    """``shared``: a thread does it, together with others that see the same memory."""

    number: int
    shared: bool


@dataclass
class Handed:
    """``calls``: of each call of Parallel n_jobs, tasks, sent (bytes), returned (bytes of the largest result), nothing
    (tasks that returned None), shared (threads) and by (the module that called it).

    ``alike``: every task of a call returned what the first one did. Whoever computes with what the workers send back
    comes to something else then. ``other``: every task got other numbers than were handed to it: each floating-point
    array is 1 more. Whoever has them computed by the workers comes to something else, too.

    ``refused``: what the first thing that cannot be is instead of a task ("value", "one task"; "no arguments" for
    delayed(f)), or of a task's "function", or that it is "stuck", a "stuck result"; and its type, name or culprit."""

    alike: bool = False
    other: bool = False
    others: int = 0  # arrays that were changed so
    calls: list[dict[str, Any]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=count)

    @property
    def lost(self) -> bool:
        """Did all tasks of a call return None, in processes?"""
        return any(_silent(call) and not call["shared"] for call in self.calls)

    @property
    def silent(self) -> bool:
        """Did every task return None?"""
        return any(call["tasks"] for call in self.calls) and all(map(_silent, self.calls))

    @property
    def explains(self) -> bool:
        """Whether an error of the caller may follow from this."""
        return bool(self.refused) or self.lost

    def refuse(self, instead: str, what: str) -> Refused:
        self.refused = self.refused or [instead, what]
        return Refused(*self.refused)

    def instead(self, value: Any) -> Any:
        """What a task gets for ``value``, with ``other``."""
        if isinstance(value, (list, tuple)):
            return type(value)(map(self.instead, value)) if type(value) in (list, tuple) else value
        if isinstance(value, dict):
            return {key: self.instead(one) for key, one in value.items()}
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
            return value
        self.others += 1
        return value + 1

    def travelled(self, instead: str, value: Any) -> Any:
        """A copy, as another process would get it."""
        try:
            return cloudpickle.loads(cloudpickle.dumps(value))
        except Exception as error:
            found = re.search(r"'([\w.]+)' object", str(error))
            culprit = KINDS.get(found.group(1) if found else "", f"something that Python cannot pickle ({error})")
            raise self.refuse(instead, culprit) from error


def _silent(call: dict[str, Any]) -> bool:
    return bool(call["tasks"] and call["nothing"] == call["tasks"])


@contextmanager
def recorded(alike: bool = False, other: bool = False) -> Iterator[Handed]:
    """What is handed to joblib meanwhile. ``alike`` and ``other`` as in ``Handed``."""
    handed = Handed(alike, other)

    def call(parallel: Any, items: Any) -> Any:
        results = _done(handed, parallel, list(items))
        return iter(results) if parallel.return_generator else results

    with (
        patch.object(joblib.Parallel, "__call__", call),
        patch.object(joblib.Parallel, "__enter__", lambda parallel: parallel),
        patch.object(joblib.Parallel, "__exit__", lambda parallel, *error: None),
    ):
        yield handed


def task_here() -> Task | None:
    """The task that this line is part of; None outside of any."""
    return getattr(_here, "task", None)


def _done(handed: Handed, parallel: Any, items: list[Any]) -> list[Any]:
    """What the tasks return, in order."""
    workers = parallel.n_jobs if parallel.n_jobs > 0 else max(1, joblib.cpu_count() + 1 + parallel.n_jobs)
    shared = bool(getattr(parallel._backend, "supports_sharedmem", False))
    noted = {"n_jobs": workers, "shared": shared, "by": _caller(), "tasks": 0, "sent": 0, "returned": 0, "nothing": 0}
    handed.calls.append(noted)
    for wrong in filter(None, map(_instead_of_task, items)):
        raise handed.refuse(*wrong)
    if workers == 1:
        return [function(*args, **kwargs) for function, args, kwargs in items]

    def perform(item: Any) -> Any:
        function, args, kwargs = item if shared else handed.travelled("stuck", item)
        args, kwargs = handed.instead((args, kwargs)) if handed.other else (args, kwargs)
        outer, _here.task = task_here(), Task(next(handed.numbers), shared)
        try:
            result = function(*args, **kwargs)
        finally:
            _here.task = outer
        if not shared:
            handed.travelled("stuck result", result)
        return result

    noted["tasks"], noted["sent"] = len(items), sum(map(_weight, items))  # before tasks change anything
    with ThreadPoolExecutor(workers) as pool:
        results = list(pool.map(perform, items))
    noted["returned"], noted["nothing"] = max(map(_weight, results), default=0), sum(r is None for r in results)
    return results[:1] * len(results) if handed.alike else results


def _weight(value: Any) -> int:
    """Bytes on the way to another process or back; 0 for what only threads of one process can share."""
    try:
        return len(cloudpickle.dumps(value))
    except Exception:
        return 0


def _caller() -> str:
    """The module that called Parallel: the learner's own, or one of scikit-learn."""
    frame = sys._getframe(1)
    while frame.f_back and str(frame.f_globals.get("__name__", "")).startswith(BETWEEN):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))


def _instead_of_task(item: Any) -> tuple[str, str] | None:
    """None if the item is what ``delayed(function)(arguments)`` makes; or else what it is, as in ``Handed.refused``."""
    if isinstance(item, tuple) and len(item) == 3 and isinstance(item[1], tuple) and isinstance(item[2], dict):
        return None if callable(item[0]) else ("function", _named(item[0]))
    delayed = callable(item) and hasattr(item, "__wrapped__")
    given = item.__wrapped__ if delayed else item
    if not callable(given):
        return "value", _named(given)
    return ("no arguments", getattr(given, "__name__", "f")) if delayed else ("one task", _named(given))


def _named(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' or name == 'ndarray' else 'a'} {name}"
