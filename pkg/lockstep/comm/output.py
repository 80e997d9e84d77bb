"""What ranks print, on its way to the learner: whole lines, each with its rank, soon, and not without end.

RankOutput      the standard output of a rank that is a process: its text travels to the parent
StreamTo        that of a rank whose text need not travel: a rank of a launcher, a thread of the virtual cluster
TaggedOutput    where the text of all ranks arrives
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
from collections.abc import Callable

_LINGER = 0.02  # seconds that text may wait for more, so that many short lines travel together
_ENOUGH = 8192  # characters that travel at once


class RankOutput(io.TextIOBase):
    """A standard output that passes its text on, up to ``limit`` characters: ``send(text)``, ``send("", True)`` when
    there was more. A thread sends what has waited long enough, also while the rank stands in a deadlock."""

    def __init__(self, send: Callable[[str, bool], None], limit: int) -> None:
        super().__init__()
        self._send, self._left = send, limit
        self._parts: list[str] = []
        self._waiting = 0
        self._lock = threading.RLock()
        self._more = threading.Event()
        self._thread: threading.Thread | None = None
        self._process = os.getpid()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        with self._lock:
            if self._left >= 0 and text:
                self._begin()
                self._parts.append(text[: self._left])
                self._waiting += len(text)
                self._left -= len(text)
                if self._left < 0:
                    self._pass_on(truncated=True)
                elif self._waiting > _ENOUGH:
                    self._pass_on()
                else:
                    self._more.set()
        return len(text)

    def flush(self) -> None:
        with self._lock:
            if self._parts:
                self._pass_on()

    def _begin(self) -> None:
        """Most functions print nothing: the thread comes with the first text. Not in a process that the rank forks."""
        if self._thread is None and os.getpid() == self._process:
            self._thread = threading.Thread(target=self._linger, name="output", daemon=True)
            self._thread.start()

    def _pass_on(self, truncated: bool = False) -> None:
        text, self._parts, self._waiting = "".join(self._parts), [], 0
        self._send(text, truncated)

    def _linger(self) -> None:
        while True:
            self._more.wait()
            threading.Event().wait(_LINGER)
            self._more.clear()
            self.flush()


def show(text: str) -> None:
    """Print at once. A notebook that has closed its output, or never had one, is no reason to fail."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.write(text)
        sys.stdout.flush()


class TaggedOutput:
    """The parent's side: lines of all ranks, each with its rank, up to ``limit`` characters in all."""

    CUT = "... (more was printed than is shown: the rest is left out)\n"

    def __init__(self, tell: Callable[[str], None], limit: int) -> None:
        self._tell, self._left, self._cut = tell, limit, False
        self._parts: dict[int | None, str] = {}

    def add(self, rank: int | None, text: str, truncated: bool = False) -> None:
        """``rank``: None for what no rank has printed."""
        *lines, rest = (self._parts.pop(rank, "") + text).split("\n")
        for line in lines:
            self._line(rank, line)
        if truncated:
            if rest:
                self._line(rank, rest)
            self._end()
        elif rest:
            self._parts[rank] = rest[: self._left + 1]

    def close(self) -> None:
        """Tell what was printed without a newline at its end."""
        for rank, rest in sorted(self._parts.items(), key=str):
            self._line(rank, rest)
        self._parts.clear()

    def _line(self, rank: int | None, line: str) -> None:
        if self._left > 0:
            tag = "" if rank is None else f"[rank {rank}] "
            self._tell(f"{tag}{line[: self._left]}\n")
            cut, self._left = len(line) > self._left, max(0, self._left - len(line) - 1)
            if not cut:
                return
        self._end()

    def _end(self) -> None:
        self._left = 0
        if not self._cut:
            self._cut = True
            self._tell(self.CUT)


class StreamTo(io.TextIOBase):
    """A standard output whose text goes to ``output`` at once, as that of the rank ``whose()``."""

    def __init__(self, output: TaggedOutput, whose: Callable[[], int | None]) -> None:
        super().__init__()
        self._output, self._whose = output, whose

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._output.add(self._whose(), text)
        return len(text)
