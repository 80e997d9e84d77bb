"""Fits that start real threads, and a room that counts how many of them are alive at once.

The threads do no work. Each waits until there are as many as cores, or until no more can come; so the count is the
same on a busy machine. A fit that is called with n threads starts n.
"""

from __future__ import annotations

import operator
import threading
import time
from typing import Any

from lockstep.errors import UsageError

PATIENCE = 1.0  # seconds to wait for threads that never come, once
LINGER = 0.03  # seconds in which a thread too many shows itself


class Room:
    """``cores`` threads belong in it. ``history``: the threads after each coming and going."""

    def __init__(self, fits: int, cores: int) -> None:
        self.fits, self.cores = fits, cores
        self.history: list[int] = []
        self.asked: list[int] = []
        self.most_fits = 0  # fits at once
        self._fits_now = 0
        self._alive = 0
        self._come = 0  # threads that have ever come
        self._patient = True
        self._changed = threading.Condition()

    def announce(self, n_threads: int) -> None:
        with self._changed:
            self.asked.append(n_threads)
            self._fits_now += 1
            self.most_fits = max(self.most_fits, self._fits_now)

    def leave(self) -> None:
        with self._changed:
            self._fits_now -= 1

    def visit(self) -> None:
        with self._changed:
            self._step(+1)
            full = self._changed.wait_for(self._all_there, PATIENCE if self._patient else 0.0)
            self._patient = self._patient and full
        time.sleep(LINGER)
        with self._changed:
            self._step(-1)

    def _step(self, by: int) -> None:
        self._alive += by
        self._come += max(0, by)
        self.history.append(self._alive)
        self._changed.notify_all()

    def _all_there(self) -> bool:
        return self._alive >= self.cores or (len(self.asked) == self.fits and self._come >= sum(self.asked))


def _whole(n_threads: Any) -> int:
    try:
        return operator.index(n_threads)
    except TypeError:
        raise UsageError(
            f"fit({n_threads}): a number of threads is a whole number, and this one is of type "
            f"{type(n_threads).__name__}.",
            "Divide by //, which rounds down.",
            "fraction-of-a-thread",
        ) from None


class Fit:
    """``fit(n_threads)`` returns ``result`` when its threads have come and gone. -1 means all the cores."""

    def __init__(self, room: Room, result: int) -> None:
        self._room, self._result = room, result

    def __call__(self, n_threads: int) -> int:
        count = self._room.cores if n_threads is None or n_threads < 0 else _whole(n_threads)
        self._room.announce(count)
        threads = [threading.Thread(target=self._room.visit, daemon=True) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._room.leave()
        return self._result

    def __reduce__(self) -> Any:
        raise UsageError(
            "These fits are objects of this process and cannot be sent to another one.",
            'They release the GIL: hand them to threads, Parallel(n_jobs=..., prefer="threads").',
            "needs-threads",
        )
