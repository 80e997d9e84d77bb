"""Ctrl-C: deferred where it would do harm, and shown with the learner's lines only.

Python raises KeyboardInterrupt between any two instructions of the main thread, even between starting a process and
storing its pid, or in the middle of cleaning up. ``undisturbed`` defers it during such a block. (Blocking the signal
would not help: another thread of a notebook would receive it, and Python would interrupt the main thread at once.)
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from lockstep import places


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """A context that defers an interrupt to its end. For short blocks that wait for no other process."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            before(*came[0])


@contextlib.contextmanager
def told_shortly() -> Iterator[None]:
    """A context in which the traceback of an interrupt, as a notebook shows it, has the learner's lines only."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        error = interrupt

        def shown() -> list[str]:
            places.Sources.here().install()
            return [places.learners_traceback(error)]

        error._render_traceback_ = shown  # type: ignore[attr-defined]  # IPython's hook
        raise
