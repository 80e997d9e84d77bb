"""Results on their way to the board. A check hands its result over and goes on; a thread sends it.

If the board does not answer, results stay in the learner's file and go with the next one. Nothing here raises, prints,
or makes a check wait. A process that ends leaves the thread a second at most: ``lockstep check`` is over then.
"""

from __future__ import annotations

import atexit
import json
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from lockstep.reports import membership
from lockstep.reports.membership import Membership
from lockstep.reports.report import VERSION

if TYPE_CHECKING:
    from lockstep.reports.posting import Sent

FAREWELL = 1.0  # seconds that a process waits for the thread when it ends
LOST = (400, 413, 422)  # this board will never take what it has been sent


class _Thread:
    """One at a time. Whoever finds it at work has it look once more."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._again = False
        self._running: threading.Thread | None = None

    def wake(self) -> None:
        with self._guard:
            self._again = True
            if self._running is None or not self._running.is_alive():  # a forked child has no threads of its parent's
                self._running = threading.Thread(target=self._work, name="lockstep-board", daemon=True)
                self._running.start()

    def _work(self) -> None:
        while True:
            with self._guard:
                if not self._again:
                    self._running = None
                    return
                self._again = False
            with suppress(Exception):
                send_all()

    def join(self, seconds: float) -> None:
        if running := self._running:
            running.join(seconds)


_thread = _Thread()
atexit.register(_thread.join, FAREWELL)


def after_check(exercise: str, points: float, misconception: str) -> None:
    """Tell the board of a check, if this learner has joined one. Returns at once, whatever becomes of it."""
    with suppress(Exception):
        if membership.add(exercise, points, misconception):
            _thread.wake()


def wait_until_idle(seconds: float) -> None:
    """For those who want to know what became of it: wait for the thread, so long at most."""
    _thread.join(seconds)


def send_all() -> Sent | None:
    """Send what has not arrived, report by report; what became of the last one. None if nobody has joined.

    Without results it sends an empty report: somebody has joined.
    """
    from lockstep.reports.posting import post  # HTTP takes a while to import, and most learners have joined no board

    sent = None
    while (now := membership.joined()) and (now.unsent or sent is None):
        sent = post(now, "report", now.report.written())
        last = now.report.results[-1].number if now.report.results else 0
        if not (sent.arrived or sent.status in LOST):
            break
        membership.arrived(now.learner, last)
    return sent


def say_goodbye(gone: Membership) -> Sent:
    """Ask the board to forget this learner."""
    from lockstep.reports.posting import post

    return post(gone, "leave", json.dumps({"version": VERSION, "learner": gone.learner}).encode())
