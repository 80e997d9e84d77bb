"""An endless loop that touches no array: found by the lines that a run in Python takes, and never by a clock.

A slow machine takes as many lines as a fast one. So the limit can be low, and calls nobody's right answer endless."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from lockstep.cpu.tracing import Memory
from lockstep.places import is_library

MOST = 2**20  # lines from one access to the next: no kernel on arrays as small as the trial's needs a thousandth of it


class Busy(Exception):
    """A run in Python went on and on without an access to its arrays."""


@contextmanager
def lines_counted(memory: Memory, most: int = MOST) -> Iterator[None]:
    """Raises Busy in the learner's loop that has taken ``most`` lines since the last access to ``memory``."""
    left, accesses = most, -1

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left, accesses
        if len(memory.accesses) != accesses:
            left, accesses = most, len(memory.accesses)
        left -= event == "line"
        if left < 0:
            raise Busy(f"{most:,} lines without an access")
        return line

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        return None if is_library(frame.f_code.co_filename) else line

    before = sys.gettrace()
    sys.settrace(call)
    try:
        yield
    finally:
        sys.settrace(before)
