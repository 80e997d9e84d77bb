"""What a starter asks of the fork server: one message for each child, with the files that are the child's.

connection, log, report     and with the first of a run: the setup, of which the next run is expected to have the same

Or it is to load modules, once for all children to come: then it answers when it has tried.
"""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass

LONGEST = 4096  # bytes
FILES = 3  # for a child
BACK, LOAD = -1, -2  # instead of a child's index
READY, LOADED = b"ready", b"loaded"  # what the server itself answers


@dataclass(frozen=True)
class Request:
    """Child ``index`` of ``size`` that run ``entry``; BACK takes back what was asked so far. LOAD: ``entry`` is a
    module."""

    entry: str
    index: int
    size: int

    @property
    def files(self) -> int:
        """How many files come with it."""
        return FILES + (self.index == 0) if self.index >= 0 else 0

    def packed(self) -> bytes:
        return json.dumps(astuple(self)).encode()

    @classmethod
    def unpacked(cls, message: bytes) -> Request:
        return cls(*json.loads(message))
