"""The end of a rank's time, where nobody watches from outside: a thread of the rank's own process, and a signal.

(1) the time is up: note where the main thread stands, and tell it
(2) hang up: what waits for a message inside gloo fails at once
(3) SIGUSR2: what loops or sleeps in Python raises TimeUp; again every second, for code that swallows it
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from lockstep.launch.watchdog import Stack
from lockstep.places import line_of

AGAIN = 1.0  # seconds
LAST_WORDS = 5.0  # seconds that a rank has from the launcher's SIGTERM, to tell an error that it knows


@dataclass(frozen=True)
class Overdue:
    """The time of a rank was up, and there it stood."""

    stack: Stack


class TimeUp(BaseException):
    """Raised in the main thread when the time is up."""


class Terminated(BaseException):
    """Raised in the main thread when the launcher ends this rank."""


class Deadline:
    """A context that lasts ``seconds`` at most. ``tell``, with the main thread's stack, and ``hang_up`` are called in a
    thread of their own. Outside the main thread, where no signal can be handled, there is no (3)."""

    def __init__(self, seconds: float, tell: Callable[[Stack], None], hang_up: Callable[[], None]) -> None:
        self._seconds, self._tell, self._hang_up = seconds, tell, hang_up
        self._lock = threading.Lock()
        self._over = threading.Event()
        self.passed = False

    def __enter__(self) -> Deadline:
        self._main = threading.get_ident()
        self._signals = threading.current_thread() is threading.main_thread()
        if self._signals:
            signal.signal(signal.SIGUSR2, self._interrupt)
        threading.Thread(target=self._watch, name="deadline", daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._over.set()

    def _watch(self) -> None:
        if self._over.wait(self._seconds):
            return
        with self._lock:
            if self._over.is_set():
                return
            self.passed = True
        self._tell(stack_of(self._main))
        self._hang_up()
        while True:
            with self._lock:
                if self._over.is_set() or not self._signals:
                    return
                signal.pthread_kill(self._main, signal.SIGUSR2)
            self._over.wait(AGAIN)

    def _interrupt(self, *_: Any) -> None:
        if not self._over.is_set():
            raise TimeUp


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """The first SIGTERM of the launcher raises Terminated, so that the rank can say why; the next one ends it. Where
    the rank leaves with an error, its caller has a few seconds to tell that: other ranks may have ended of the same
    error, and the launcher ends this one for it."""
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGTERM) not in (signal.SIG_DFL, end_soon):
        yield
        return

    def tell(*_: Any) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise Terminated

    afterwards: Any = signal.SIG_DFL
    signal.signal(signal.SIGTERM, tell)
    try:
        yield
    except Exception:
        afterwards = end_soon
        raise
    finally:
        signal.signal(signal.SIGTERM, afterwards)


def end_soon(*_: Any) -> None:
    """On SIGTERM: it takes effect after the last words, and the next one at once."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    timer = threading.Timer(LAST_WORDS, os.kill, (os.getpid(), signal.SIGTERM))
    timer.daemon = True
    timer.start()


def stack_of(thread: int) -> Stack:
    """Where a thread of this process stands."""
    frame, frames = sys._current_frames().get(thread), []
    while frame is not None:
        frames.append((frame.f_code.co_filename, line_of(frame), frame.f_code.co_name))
        frame = frame.f_back
    return Stack(tuple(frames))
