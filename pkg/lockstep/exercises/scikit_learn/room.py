"""Fits that say how many threads they use, and a room that counts how many of them there are at once.

No thread is started: a fit that is called with n threads counts as n from its beginning to its end. It does not end
before the room is full, or no fit is left to come; so the count does not depend on how busy the machine is.
"""

from __future__ import annotations

import operator
import threading
from typing import Any

PATIENCE = 1.0  # seconds to wait for fits that never come, once
LINGER = 0.2  # seconds in which a full room waits for one too many


class Room:
    """``cores`` threads belong in it. ``history``: how many there are after each coming and going."""

    def __init__(self, fits: int, cores: int) -> None:
        self.fits, self.cores = fits, cores
        self.history: list[int] = []
        self.asked: list[int] = []
        self.misused = ""  # a number of threads that is none, as text
        self.most_fits = 0  # fits at once
        self._fits = self._threads = 0
        self._patient = True
        self._changed = threading.Condition()

    def stay(self, threads: int) -> None:
        """One fit, from its beginning to its end."""
        with self._changed:
            self.asked.append(threads)
            self._step(+1, threads)
            full = self._changed.wait_for(self._full, PATIENCE if self._patient else 0.0)
            self._patient = self._patient and full
            self._changed.wait_for(self._last, LINGER if full else 0.0)
            self._step(-1, -threads)

    def _step(self, fits: int, threads: int) -> None:
        self._fits += fits
        self._threads += threads
        self.most_fits = max(self.most_fits, self._fits)
        self.history.append(self._threads)
        self._changed.notify_all()

    def _last(self) -> bool:
        return len(self.asked) >= self.fits or max(self.history) > self.cores

    def _full(self) -> bool:
        return max(self.history) >= self.cores or self._last()


class Fit:
    """``fit(n_threads)`` returns ``result``. -1 means all the cores."""

    def __init__(self, room: Room, result: int) -> None:
        self._room, self._result = room, result

    def __call__(self, n_threads: int) -> int:
        try:
            threads = self._room.cores if n_threads is None or n_threads < 0 else operator.index(n_threads)
            if not threads:
                raise ValueError("a fit needs 1 thread or more")
        except (TypeError, ValueError):
            self._room.misused = self._room.misused or str(n_threads)
            raise
        self._room.stay(threads)
        return self._result

    def __reduce__(self) -> Any:
        raise TypeError("a fit is an object of this process and cannot be sent to another one: use threads")
