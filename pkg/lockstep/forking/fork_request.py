"""The messages of a starter to the fork server: a request for each child, with its file descriptors.

connection, log, report     and with the first request of a run its setup, which the next run is expected to share

Or a request to import a module, once for all later children; the server answers when it has tried.
"""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass

LONGEST = 4096  # bytes
FILES = 3  # for a child
BACK, LOAD = -1, -2  # in place of a child's index
READY, LOADED = b"ready", b"loaded"  # answers of the server


@dataclass(frozen=True)
class Request:
    """A request for child ``index`` of ``size`` that run ``entry``. Index BACK cancels the run's requests so far; with
    LOAD, ``entry`` is a module to import."""

    entry: str
    index: int
    size: int

    @property
    def files(self) -> int:
        """The number of file descriptors sent with it."""
        return FILES + (self.index == 0) if self.index >= 0 else 0

    def packed(self) -> bytes:
        return json.dumps(astuple(self)).encode()

    @classmethod
    def unpacked(cls, message: bytes) -> Request:
        return cls(*json.loads(message))
