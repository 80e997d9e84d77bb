"""What a learner's function hands to joblib: which calls of Parallel, with how many workers, tasks and bytes.

For the time of a watch, joblib's own backends are replaced by one that runs the tasks on threads and writes them down.
Where the learner asked for processes, every task is pickled, and its copy is run, as in a process: what a task changes
is lost, and only what it returns comes back. Starting real processes would take longer than all the rest of a check.
With threads nothing is copied; what would have to be sent to processes is weighed all the same.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import TracebackType
from typing import Any
from unittest.mock import patch

import cloudpickle
import joblib.parallel
from joblib.parallel import ThreadingBackend

from lockstep.checks.scikit_learn.handed import NOTHING, copied, ensure_returns_travel, no_task
from lockstep.errors import UsageError

# One entry a call of Parallel: n_jobs, tasks, sent (bytes), returned (bytes of the largest), nothing (tasks that
# returned None), shared (threads), by (the module that called Parallel).
Log = list[dict[str, Any]]
Failed = list[tuple[BaseException, TracebackType | None]]  # what tasks raised, and where

_here = threading.local()  # whether this thread is in a task

BETWEEN = ("joblib", "sklearn.utils", __name__)  # modules that stand between Parallel and who called it


class _Recording(ThreadingBackend):  # type: ignore[misc]
    """A pool of threads that writes down what it is given."""

    uses_threads = supports_sharedmem = False  # so that prefer="threads" asks for the other one
    supports_inner_max_num_threads = True  # as loky does
    copies = True

    def __init__(self, log: Log, failed: Failed, lock: threading.Lock, **settings: Any) -> None:
        super().__init__(**settings)
        self._log, self._failed, self._lock = log, failed, lock
        self._entry: dict[str, Any] = {}
        self._no_task: UsageError | None = None  # the first one is told: the second item of one task is its arguments

    def configure(self, n_jobs: int = 1, parallel: Any = None, **settings: Any) -> int:
        self._entry = {"n_jobs": self.effective_n_jobs(n_jobs), "tasks": 0, "sent": 0, "returned": 0, "nothing": 0}
        self._entry |= {"shared": not self.copies, "by": _caller()}
        with self._lock:
            self._log.append(self._entry)
        return int(super().configure(n_jobs, parallel, **settings))

    def submit(self, func: Any, callback: Any = None) -> Any:
        self._no_task = self._no_task or no_task(func.items)
        return super().submit(partial(self._perform, func), callback)

    def _perform(self, batch: Any) -> list[Any]:
        if self._no_task:
            raise self._no_task
        items = copied(batch.items) if self.copies else batch.items
        sent = weight(batch.items)  # before the tasks change anything
        results = self._called(items)
        if self.copies:
            ensure_returns_travel(results)
        returned = max(weight(r) for r in results)
        with self._lock:
            self._entry["tasks"] += len(items)
            self._entry["sent"] += sent
            self._entry["returned"] = max(self._entry["returned"], returned)
            self._entry["nothing"] += sum(r is None for r in results)
        return results

    def _called(self, items: Any) -> list[Any]:
        _here.task = True
        try:
            return [function(*args, **kwargs) for function, args, kwargs in items]
        except Exception as error:
            self._failed.append((error, error.__traceback__))
            raise
        finally:
            _here.task = False

    def get_nested_backend(self) -> tuple[Any, int]:
        return joblib.parallel.SequentialBackend(nesting_level=(self.nesting_level or 0) + 1), 1


class _Sharing(_Recording):
    """The learner asked for threads: tasks share their memory."""

    uses_threads = supports_sharedmem = True
    supports_inner_max_num_threads = False
    copies = False


def inside_a_task() -> bool:
    """Is this line run by a worker?"""
    return getattr(_here, "task", False)


def weight(value: Any) -> int:
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


def lost(log: Log) -> bool:
    """Did all tasks of a call of Parallel return None, in processes?"""
    return any(entry["tasks"] and entry["nothing"] == entry["tasks"] and not entry["shared"] for entry in log)


@contextmanager
def recorded() -> Iterator[Log]:
    """The calls of Parallel that are made meanwhile. With one worker joblib works on the spot: no task is counted.

    Raises UsageError where what follows fails because all tasks in processes returned None."""
    log: Log = []
    failed: Failed = []
    lock = threading.Lock()

    def made(kind: type[_Recording]) -> Callable[..., Any]:
        return partial(kind, log, failed, lock)

    backends = {"loky": made(_Recording), "multiprocessing": made(_Recording), "threading": made(_Sharing)}
    with patch.dict(joblib.parallel.BACKENDS, backends):
        try:
            yield log
        except Exception as error:
            _lead_into_task(error, failed)
            if isinstance(error, NotImplementedError) or not lost(log):
                raise
            told = UsageError(NOTHING[0].upper() + NOTHING[1:], "Return it.", "shared-list")
            raise told.with_traceback(error.__traceback__) from error


def _lead_into_task(error: BaseException, failed: Failed) -> None:
    """Joblib hands on what a task raised without the task's own lines: its traceback gets them back."""
    inside = next((tb for e, tb in failed if e is error), None)
    last = error.__traceback__
    while last and last.tb_next:
        if last is inside:
            return
        last = last.tb_next
    if last and inside and last is not inside:
        last.tb_next = inside
