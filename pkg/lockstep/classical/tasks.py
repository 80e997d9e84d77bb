"""What a function hands to joblib: its calls of Parallel, with how many workers, tasks and bytes. Facts, no sentences.

While it is watched, joblib's own backends are replaced by one that runs the tasks on threads and writes them down.
Where processes were asked for, every task is pickled, and its copy is run, as in a process: what a task changes is
lost, and only what it returns comes back. Starting real processes would take longer than all the rest. With threads
nothing is copied; what would have to be sent to processes is weighed all the same.
"""

from __future__ import annotations

import itertools
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Any
from unittest.mock import patch

import cloudpickle
import joblib.parallel
from joblib.parallel import ThreadingBackend

BETWEEN = ("joblib", "sklearn.utils", __name__)  # modules that stand between Parallel and who called it
KINDS = {"_thread.lock": "a lock", "_thread.RLock": "a lock", "generator": "a generator", "module": "a module"}

_here = threading.local()  # ``task``: the one that this thread is in


class Refused(Exception):
    """Something was handed over that cannot go to a worker, or come back."""


@dataclass(frozen=True)
class Task:
    """One of the tasks that were run; ``shared``: on a thread, among others that see the same memory."""

    number: int
    shared: bool


@dataclass
class Handed:
    """What was handed to joblib.

    ``calls``: of each call of Parallel n_jobs, tasks, sent (bytes), returned (bytes of the largest result), nothing
    (tasks that returned None), shared (threads) and by (the module that called it). With one worker joblib works on
    the spot, and no task is counted.
    ``refused``: of the first thing that cannot go to a worker or back, what it stands for, and what it is:

        value          a value in place of a task
        function       a value in place of a task's function
        no arguments   delayed(f) without a second pair of brackets; its name
        one task       a task in place of a list of them
        stuck          a task that cannot be pickled, because of this
        stuck result   a result that cannot be pickled, because of this
    """

    calls: list[dict[str, Any]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    failed: list[tuple[BaseException, TracebackType | None]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def lost(self) -> bool:
        """Did all tasks of a call return None, in processes?"""
        return any(c["tasks"] and c["nothing"] == c["tasks"] and not c["shared"] for c in self.calls)

    def refuse(self, stands_for: str, what: str) -> Refused:
        self.refused = self.refused or [stands_for, what]
        return Refused(*self.refused)


@contextmanager
def recorded() -> Iterator[Handed]:
    """What is handed to joblib meanwhile. What a task raises leads to the task's own line."""
    handed = Handed()
    copying, sharing = partial(_Copying, handed), partial(_Sharing, handed)
    backends = {"loky": copying, "multiprocessing": copying, "threading": sharing}
    with patch.dict(joblib.parallel.BACKENDS, backends):
        try:
            yield handed
        except Exception as error:
            _lead_into_task(error, handed)
            raise


def task_here() -> Task | None:
    """The task that this line is part of; None outside of any."""
    return getattr(_here, "task", None)


def weight(value: Any) -> int:
    """Bytes on the way to another process or back; 0 for what only threads of one process can share."""
    try:
        return len(cloudpickle.dumps(value))
    except Exception:
        return 0


class _Copying(ThreadingBackend):  # type: ignore[misc]
    """A pool of threads that writes down what it is given, and runs copies of it."""

    uses_threads = supports_sharedmem = False  # so that prefer="threads" asks for the other one
    supports_inner_max_num_threads = True  # as loky does
    shared = False

    def __init__(self, handed: Handed, **settings: Any) -> None:
        super().__init__(**settings)
        self._handed = handed
        self._call: dict[str, Any] = {}

    def configure(self, n_jobs: int = 1, parallel: Any = None, **settings: Any) -> int:
        self._call = {"n_jobs": self.effective_n_jobs(n_jobs), "shared": self.shared, "by": _caller()}
        self._call |= dict.fromkeys(("tasks", "sent", "returned", "nothing"), 0)
        self._handed.calls.append(self._call)
        return int(super().configure(n_jobs, parallel, **settings))

    def submit(self, func: Any, callback: Any = None) -> Any:
        for item in func.items:
            wrong = _instead_of_task(item)
            if wrong:
                self._handed.refuse(*wrong)
        return super().submit(partial(self._perform, func), callback)

    def _perform(self, batch: Any) -> list[Any]:
        if self._handed.refused:
            raise Refused(*self._handed.refused)
        items = batch.items if self.shared else self._travelled("stuck", batch.items)
        sent = weight(batch.items)  # before the tasks change anything
        results = [self._run(*item) for item in items]
        if not self.shared:
            self._travelled("stuck result", results)
        with self._handed.lock:
            self._call["tasks"] += len(items)
            self._call["sent"] += sent
            self._call["returned"] = max(self._call["returned"], *map(weight, results))
            self._call["nothing"] += sum(r is None for r in results)
        return results

    def _travelled(self, stands_for: str, value: Any) -> Any:
        """A copy, as another process would get it."""
        try:
            return cloudpickle.loads(cloudpickle.dumps(value))
        except Exception as error:
            raise self._handed.refuse(stands_for, _culprit(error)) from error

    def _run(self, function: Any, args: Any, kwargs: Any) -> Any:
        _here.task = Task(next(self._handed.numbers), self.shared)
        try:
            return function(*args, **kwargs)
        except Exception as error:
            self._handed.failed.append((error, error.__traceback__))
            raise
        finally:
            _here.task = None

    def get_nested_backend(self) -> tuple[Any, int]:
        return joblib.parallel.SequentialBackend(nesting_level=(self.nesting_level or 0) + 1), 1


class _Sharing(_Copying):
    """Threads were asked for: tasks share their memory."""

    uses_threads = supports_sharedmem = True
    supports_inner_max_num_threads = False
    shared = True


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


def _culprit(error: Exception) -> str:
    """What cannot be pickled."""
    found = re.search(r"'([\w.]+)' object", str(error))
    if str(error).startswith(("Lock objects", "RLock objects", "Semaphore objects", "Queue objects")):
        return f"a {str(error).split()[0].lower()} of multiprocessing"
    if "pickle files" in str(error):
        return "an open file"
    kind = found.group(1) if found else ""
    return KINDS.get(kind, f"something that Python cannot pickle ({error})")


def _lead_into_task(error: BaseException, handed: Handed) -> None:
    """Joblib hands on what a task raised without the task's own lines: its traceback gets them back."""
    inside = next((tb for e, tb in handed.failed if e is error), None)
    last = error.__traceback__
    while last and last.tb_next and last is not inside:
        last = last.tb_next
    if last and inside and last is not inside:
        last.tb_next = inside
