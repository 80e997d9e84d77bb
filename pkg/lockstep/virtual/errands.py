"""Communication of the threads that a rank starts: the rank's own thread does it, while it waits for them.

Only a rank's own thread has the baton, a clock and a place in the order of events. A thread that the rank has started
hands its calls over and waits; the rank does them one after the other while it is in ``Thread.join``,
``Future.result``, ``Event.wait`` or anything else that waits for a ``threading.Condition``. So their order depends on
the host only where several such threads communicate at a time, as it does on real ranks.

Two threads of a rank that have to communicate side by side, or one beside the rank, find no end here: that is refused.
"""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lockstep.places import Place
from lockstep.virtual.data_movement import quietly

SLICE = 0.002  # seconds of host time between two looks at what threads have asked for
GRACE = 0.3  # seconds of host time for which a stalled run waits for what a thread may still ask for

_START = threading.Thread.start.__code__
_real_join, _real_wait, _now = threading.Thread.join, threading.Condition.wait, time.monotonic


@dataclass
class Errand:
    """One call: ``thread`` asks for it at ``place``."""

    act: Callable[[], Any]
    thread: str
    place: Place
    done: threading.Lock = field(default_factory=threading.Lock)
    result: Any = None
    error: BaseException | None = None

    def carry_out(self) -> None:
        try:
            self.result = quietly(self.act)()
        except BaseException as error:
            self.error = error
        self.done.release()


class Errands:
    """What the threads of one rank ask of its own thread. ``threads``: how many of them are alive."""

    def __init__(self) -> None:
        self.threads = 0
        self.closed = False  # the run has ended
        self._asked: deque[Errand] = deque()
        self._counting = threading.Lock()

    def begun(self) -> None:
        with self._counting:
            self.threads += 1

    def ended(self) -> None:
        with self._counting:
            self.threads -= 1

    def ask(self, act: Callable[[], Any], place: Place) -> Any:
        """Called by a thread that the rank has started."""
        errand = Errand(act, threading.current_thread().name, place)
        errand.done.acquire()
        self._asked.append(errand)
        errand.done.acquire()
        if errand.error:
            raise errand.error
        return errand.result

    def serve(self) -> None:
        """Called by the rank's own thread: do all that was asked for until now."""
        while self._asked:
            self._asked.popleft().carry_out()

    def asked(self) -> Errand | None:
        """The first that the rank has not begun."""
        return self._asked[0] if self._asked else None

    def left(self) -> Errand | None:
        """The same when the run stalls: a thread may be about to ask."""
        until = _now() + GRACE
        while self.threads and not self._asked and _now() < until:
            _pause()
        return self.asked()


def _pause() -> None:
    """A short sleep of host time. (``time.sleep`` is virtual in a rank's own thread.)"""
    lock = threading.Lock()
    lock.acquire()
    lock.acquire(timeout=SLICE)


Mine = Callable[[], "Errands | None"]  # of the rank whose own thread is the calling one


def install(mine: Mine) -> None:
    """Let waits of a rank's own thread do its threads' errands. Once in a process."""

    def serving() -> Errands | None:
        errands = mine()
        return errands if errands and errands.threads and not errands.closed else None

    def join(self: threading.Thread, timeout: float | None = None) -> None:
        errands, end = serving(), None if timeout is None else _now() + timeout
        while errands and self.is_alive() and (end is None or _now() < end):
            _real_join(self, SLICE)
            errands.serve()
        if not errands:
            _real_join(self, timeout)

    def wait(self: threading.Condition, timeout: float | None = None) -> bool:
        starts = sys._getframe(2).f_code is _START  # a thread: a pool holds a lock that is everybody's
        errands = None if starts else serving()
        if errands is None:
            return _real_wait(self, timeout)
        return _wait_and_serve(self, errands, math.inf if timeout is None else _now() + timeout)

    threading.Thread.join, threading.Condition.wait = join, wait  # type: ignore[method-assign]


def _wait_and_serve(condition: Any, errands: Errands, end: float) -> bool:
    """``Condition.wait`` as Python's own, in slices. (Calling that again and again would lose a notification that comes
    just when a slice has ended.)"""
    if not condition._is_owned():
        raise RuntimeError("cannot wait on un-acquired lock")
    waiter, notified = threading.Lock(), False
    waiter.acquire()
    saved = condition._release_save()
    condition._waiters.append(waiter)
    try:
        while not notified and _now() < end and not errands.closed:
            notified = waiter.acquire(timeout=max(0.0, min(SLICE, end - _now())))
            if not notified:
                errands.serve()
        if errands.closed and not notified:
            notified = waiter.acquire(timeout=-1 if end == math.inf else max(0.0, end - _now()))
    finally:
        condition._acquire_restore(saved)
        if not notified:
            with contextlib.suppress(ValueError):
                condition._waiters.remove(waiter)
    return notified
