"""Waiting for the end of a run, as long as something happens in it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from lockstep import deadlock_report
from lockstep.virtual.core import one_core

GLANCE = 0.25  # seconds of host time between two looks


class Watch:
    """Made before the ranks' threads are: they begin on the core where this one is."""

    def __init__(self) -> None:
        self._core = one_core()

    def wait(
        self, ended: threading.Event, operations: Callable[[], int], timeout: float, patience: float
    ) -> tuple[float, bool] | None:
        """Until ``ended``: None. Or until it has taken too long: for how many seconds nothing was done any more, and
        whether that was too long (after ``patience`` seconds, or when the time is up)."""
        deadline = time.monotonic() + timeout
        seen, since = -1, time.monotonic()
        while not ended.wait(GLANCE):
            now = time.monotonic()
            if self._core:
                self._core.look_again()
            if operations() != seen:
                seen, since = operations(), now
            idle = now - since
            stuck = idle > patience or (now > deadline and idle >= min(deadlock_report.IDLE, timeout / 2))
            if stuck or now > deadline:
                return idle, stuck
        return None
