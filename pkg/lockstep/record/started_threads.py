"""Threads that a function starts: what must be in force in each of them, and what is told of one that raises."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from lockstep import places


class Started:
    """Within it, each thread that is started runs with ``around()`` in force; ``around`` is called where it is started.

    A class of threads may have a ``run`` of its own: so it is ``start`` that is watched."""

    def __init__(self, around: Callable[[], AbstractContextManager[Any]]) -> None:
        self._around = around

    def __enter__(self) -> Started:
        self._originals = start, _ = threading.Thread.start, threading.excepthook
        around = self._around

        def begin(thread: threading.Thread) -> None:
            setattr(thread, "run", within(around(), thread.run))  # noqa: B010
            start(thread)

        threading.Thread.start, threading.excepthook = begin, tell  # type: ignore[assignment,method-assign]
        return self

    def __exit__(self, *error: Any) -> None:
        threading.Thread.start, threading.excepthook = self._originals  # type: ignore[method-assign]


def within(context: AbstractContextManager[Any], run: Callable[[], None]) -> Callable[[], None]:
    def running() -> None:
        with context:
            run()

    return running


def tell(raised: threading.ExceptHookArgs) -> None:
    """An exception that nobody has caught ends its thread, not the function: the learner's lines go to stderr."""
    if raised.exc_value is None or isinstance(raised.exc_value, SystemExit) or sys.stderr is None:
        return
    name = raised.thread.name if raised.thread else "of an unknown name"
    print(f"Exception in thread {name}:\n{places.learners_traceback(raised.exc_value)}", file=sys.stderr)
