"""Ctrl-C at a moment when it does no harm, and told in the learner's own lines.

Python raises KeyboardInterrupt between any two instructions of the main thread: also between the start of a process
and the line that notes its number, or in the middle of tidying up. ``undisturbed`` holds it back for such a moment.
(Masking the signal would not do: another thread of a notebook would take it, and the main thread be told at once.)
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
    """An interrupt waits for the end of the block. For short blocks that wait for nobody else."""
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
    """Of an interrupt in the block a notebook shows the learner's own lines, and none of the library's."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        error = interrupt

        def shown() -> list[str]:
            places.Sources.here().install()
            return [places.learners_traceback(error)]

        error._render_traceback_ = shown  # type: ignore[attr-defined]  # IPython's hook
        raise
