"""The output of ranks: whole lines, each tagged with its rank, shown promptly, and limited in length.

RankStream      what programs ask of stdout beside writing to it, for the next two
RankOutput      stdout of a rank that is a process of its own: text is sent to the parent
StreamTo        stdout of a rank in the same process: a rank of a launcher, a thread of the virtual cluster
TaggedOutput    collects the text of all ranks
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

_LINGER = 0.02  # seconds for which text is buffered, so that many short lines are sent together
_ENOUGH = 8192  # characters that are sent at once


class RankStream(io.TextIOBase):
    """What a rank finds as ``sys.stdout``: what programs ask of it, beside ``write``. It is no file of the system."""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    @property
    def buffer(self) -> Bytes:
        return Bytes(self)

    def reconfigure(self, **_: object) -> None:
        """As of a TextIOWrapper. Lines are passed on when they end, whatever is set."""

    def writable(self) -> bool:
        return True


class Bytes(io.RawIOBase):
    """The ``buffer`` of a stream: text as bytes."""

    def __init__(self, stream: RankStream) -> None:
        super().__init__()
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._stream.write(bytes(data).decode(errors="replace"))
        return len(data)

    def flush(self) -> None:
        self._stream.flush()


class RankOutput(RankStream):
    """A stdout that forwards up to ``limit`` characters by ``send(text, truncated)``; ``truncated`` if there was more.
    A thread flushes the buffer, even while the rank is deadlocked."""

    def __init__(self, send: Callable[[str, bool], None], limit: int) -> None:
        super().__init__()
        self._send, self._left = send, limit
        self._parts: list[str] = []
        self._waiting = 0
        self._lock = threading.RLock()
        self._more = threading.Event()
        self._thread: threading.Thread | None = None
        self._process = os.getpid()

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
        """Start the thread with the first text, since most functions print nothing; not in a fork of the rank."""
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


PRINTED = ("stdout", "stderr")  # kinds of messages that carry output, and where it is shown


def show(text: str, stream: str = "stdout") -> None:
    """Print and flush. Errors are ignored, as of a notebook whose output is closed."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        out = getattr(sys, stream)
        out.write(text)
        out.flush()


class TaggedOutput:
    """The parent's side: passes lines of all ranks, each after ``tag`` with its rank in it, to ``tell``, up to
    ``limit`` characters."""

    CUT = "... (more was printed than is shown: the rest is left out)\n"

    def __init__(self, tell: Callable[[str], None], limit: int, tag: str = "[rank {}] ") -> None:
        self._tell, self._left, self._tag, self._cut = tell, limit, tag, False
        self._parts: dict[int | None, str] = {}

    def add(self, rank: int | None, text: str, truncated: bool = False) -> None:
        """Add text of a rank, or of no rank (None)."""
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
        """Pass on the last lines, if they have no newline."""
        for rank, rest in sorted(self._parts.items(), key=str):
            self._line(rank, rest)
        self._parts.clear()

    def _line(self, rank: int | None, line: str) -> None:
        if self._left > 0:
            tag = "" if rank is None else self._tag.format(rank)
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


class StreamTo(RankStream):
    """A stdout that adds text to ``output`` directly, as the rank ``whose()``."""

    def __init__(self, output: TaggedOutput, whose: Callable[[], int | None]) -> None:
        super().__init__()
        self._output, self._whose = output, whose

    def write(self, text: str) -> int:
        self._output.add(self._whose(), text)
        return len(text)
