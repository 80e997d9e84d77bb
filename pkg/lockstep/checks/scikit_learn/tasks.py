"""What a learner's function hands to joblib: which calls of Parallel, with how many workers, tasks and bytes.

For the time of a watch, joblib's own backends are replaced by one that runs the tasks on threads and writes them down.
Where the learner asked for processes, every task is pickled, and its copy is run, as in a process: what a task changes
is lost, and only what it returns comes back. Starting real processes would take longer than all the rest of a check.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import cloudpickle
import joblib.parallel
from joblib.parallel import ThreadingBackend

Log = list[dict[str, Any]]  # one entry a call of Parallel: n_jobs, tasks, sent (bytes), returned (bytes of the largest)


class _Recording(ThreadingBackend):  # type: ignore[misc]
    """A pool of threads that writes down what it is given."""

    uses_threads = supports_sharedmem = False  # so that prefer="threads" asks for the other one
    copies = True

    def __init__(self, log: Log, lock: threading.Lock, **settings: Any) -> None:
        super().__init__(**settings)
        self._log, self._lock = log, lock
        self._entry: dict[str, Any] = {}

    def configure(self, n_jobs: int = 1, parallel: Any = None, **settings: Any) -> int:
        self._entry = {"n_jobs": self.effective_n_jobs(n_jobs), "tasks": 0, "sent": 0, "returned": 0}
        with self._lock:
            self._log.append(self._entry)
        return int(super().configure(n_jobs, parallel, **settings))

    def submit(self, func: Any, callback: Any = None) -> Any:
        return super().submit(partial(self._perform, func), callback)

    def _perform(self, batch: Any) -> list[Any]:
        items, sent = self._handed_over(batch.items)
        results = [function(*args, **kwargs) for function, args, kwargs in items]
        returned = max(len(cloudpickle.dumps(r)) for r in results) if self.copies else 0
        with self._lock:
            self._entry["tasks"] += len(items)
            self._entry["sent"] += sent
            self._entry["returned"] = max(self._entry["returned"], returned)
        return results

    def _handed_over(self, items: Any) -> tuple[Any, int]:
        """What the worker gets, and its bytes: a copy, or with threads the very objects, which cost nothing."""
        if not self.copies:
            return items, 0
        sent = cloudpickle.dumps(items)
        return cloudpickle.loads(sent), len(sent)

    def get_nested_backend(self) -> tuple[Any, int]:
        return joblib.parallel.SequentialBackend(nesting_level=(self.nesting_level or 0) + 1), 1


class _Sharing(_Recording):
    """The learner asked for threads: tasks share their memory."""

    uses_threads = supports_sharedmem = True
    copies = False


@contextmanager
def recorded() -> Iterator[Log]:
    """The calls of Parallel that are made meanwhile. With one worker joblib works on the spot: no task is counted."""
    log: Log = []
    lock = threading.Lock()

    def made(kind: type[_Recording]) -> Callable[..., Any]:
        return partial(kind, log, lock)

    backends = {"loky": made(_Recording), "multiprocessing": made(_Recording), "threading": made(_Sharing)}
    with patch.dict(joblib.parallel.BACKENDS, backends):
        yield log
