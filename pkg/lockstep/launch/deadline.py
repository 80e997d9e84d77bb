"""The time limit of a rank that no other process watches: a thread of the rank's own process, and a signal.

(1) when the time is up, report the stack of the main thread
(2) shut down the connections: operations that wait inside gloo fail at once
(3) send SIGUSR2: Python code raises TimeUp; repeated every second, for code that swallows it
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
LAST_WORDS = 5.0  # seconds from the launcher's SIGTERM, in which a rank may report an error


@dataclass(frozen=True)
class Overdue:
    """A rank reached its time limit, with this stack."""

    stack: Stack


class TimeUp(BaseException):
    """Raised in the main thread when the time is up."""


class Terminated(BaseException):
    """Raised in the main thread when the launcher ends this rank."""


class Deadline:
    """A context with a time limit of ``seconds``. ``tell`` (with the main thread's stack) and ``hang_up`` are called in
    a separate thread. Outside the main thread, which alone can handle signals, step (3) is left out."""

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
    """A context in which the launcher's first SIGTERM raises Terminated, so that the rank can report why; the next one
    ends it. After an error, the caller has a few seconds to report it, since other ranks may already have ended with
    the same error, for which the launcher terminates this one."""
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
    """A handler of SIGTERM that delays it by LAST_WORDS; the next one takes effect at once."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    timer = threading.Timer(LAST_WORDS, os.kill, (os.getpid(), signal.SIGTERM))
    timer.daemon = True
    timer.start()


def stack_of(thread: int) -> Stack:
    """The stack of a thread of this process."""
    frame, frames = sys._current_frames().get(thread), []
    while frame is not None:
        frames.append((frame.f_code.co_filename, line_of(frame), frame.f_code.co_name))
        frame = frame.f_back
    return Stack(tuple(frames))
