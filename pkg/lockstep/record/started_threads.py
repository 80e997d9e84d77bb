"""Threads that a rank's function starts: they run in a given context, and report uncaught exceptions."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import thread as pools
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any

from lockstep import places

_STARTER = "_lockstep_starter"


class Started:
    """A context in which every started thread runs inside ``around()``, which is called by the starting thread.

    ``Thread.start`` is patched and not ``run``, which subclasses override."""

    def __init__(self, around: Callable[[], AbstractContextManager[Any]]) -> None:
        self._around = around

    def __enter__(self) -> Started:
        self._originals = start, _ = threading.Thread.start, threading.excepthook
        around = self._around

        def begin(thread: threading.Thread) -> None:
            setattr(thread, _STARTER, threading.current_thread())
            setattr(thread, "run", within(around(), thread.run))  # noqa: B010
            start(thread)

        threading.Thread.start, threading.excepthook = begin, tell  # type: ignore[assignment,method-assign]
        return self

    def __exit__(self, *error: Any) -> None:
        threading.Thread.start, threading.excepthook = self._originals  # type: ignore[method-assign]


def join_those_of(starter: threading.Thread) -> None:
    """Wait for all threads but daemons that ``starter`` has started, or that such a thread has: as Python does before
    a process ends. Thread pools do what they have been given, and take nothing more."""
    while mine := [t for t in threading.enumerate() if not t.daemon and _descends(t, starter)]:
        for thread in mine:
            if pool := _pool_of(thread):
                pool.shutdown()
            thread.join()


def is_joining(frame: FrameType | None) -> bool:
    """Whether the thread whose innermost frame this is executes ``join_those_of``."""
    while frame is not None and frame.f_code is not join_those_of.__code__:
        frame = frame.f_back
    return frame is not None


def _pool_of(thread: threading.Thread) -> ThreadPoolExecutor | None:
    """The pool whose worker the thread is, or None. A worker waits for its pool's next task, and gets a reference to
    the pool as its first argument."""
    if thread not in pools._threads_queues:
        return None
    pool: ThreadPoolExecutor | None = thread._args[0]()  # type: ignore[attr-defined]
    return pool


def _descends(thread: threading.Thread | None, starter: threading.Thread) -> bool:
    above = getattr(thread, _STARTER, None)
    return above is not None and (above is starter or _descends(above, starter))


def within(context: AbstractContextManager[Any], run: Callable[[], None]) -> Callable[[], None]:
    def running() -> None:
        with context:
            run()

    return running


def tell(raised: threading.ExceptHookArgs) -> None:
    """An excepthook that prints the learner's part of the traceback; the exception ends its thread only."""
    if raised.exc_value is None or isinstance(raised.exc_value, SystemExit) or sys.stderr is None:
        return
    name = raised.thread.name if raised.thread else "of an unknown name"
    print(f"Exception in thread {name}:\n{places.learners_traceback(raised.exc_value)}", file=sys.stderr)
