"""Detection of busy-waiting ranks, which do nothing but poll ``is_completed()``: they use CPU time without progress.

The information is in the journals of the ranks. They are read when none of them has grown for a while, so that nothing
was posted or completed, and no rank has executed an operation of torch between two polls. A rank that keeps polling
touches its journal; one that has not done so recently may be computing in Python.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence

from lockstep.comm.operation import Operation
from lockstep.places import Place

STILL = 0.5  # seconds without a new entry
LATELY = 1.2  # seconds within which a polling rank touches its journal


class BusyPolling:
    """``now()``: the busy-waiting ranks, each with the line that polls. ``read``: reads the journal of a rank."""

    def __init__(self, paths: Sequence[str], read: Callable[[int], Sequence[Operation]]) -> None:
        self._paths, self._read = paths, read
        self._sizes: list[int] = []
        self._since = 0.0
        self._found: Mapping[int, Place] | None = None

    def now(self) -> Mapping[int, Place]:
        sizes = [os.stat(path).st_size if os.path.exists(path) else 0 for path in self._paths]
        if sizes != self._sizes:
            self._sizes, self._since, self._found = sizes, time.monotonic(), None
        if time.monotonic() - self._since < STILL:
            return {}
        if self._found is None:
            asked = {r: asks(self._read(r)) for r in range(len(self._paths))}
            self._found = {r: o.polled for r, o in asked.items() if o}
        return {r: place for r, place in self._found.items() if time.time() - self._touched(r) < LATELY}

    def _touched(self, rank: int) -> float:
        return os.stat(self._paths[rank]).st_mtime


def asks(log: Sequence[Operation]) -> Operation | None:
    """The operation that the rank polls, if it does nothing else."""
    return next((o for o in log if o.in_vain and o.end is None), None)
