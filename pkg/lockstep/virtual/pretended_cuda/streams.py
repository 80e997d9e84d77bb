"""Streams and events of the stand-in: what is put into any stream is done at once, and events have virtual times."""

from __future__ import annotations

from typing import Any

import torch

from lockstep.virtual.pretended_cuda.gpu import mine


class Event:
    """``torch.cuda.Event``."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        self._timed, self._at = enable_timing, -1.0

    def record(self, stream: Any = None) -> None:
        self._at = mine().now

    def elapsed_time(self, end_event: Event) -> float:
        """Virtual milliseconds from this event to another one."""
        if not (self._timed and end_event._timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._at < 0 or end_event._at < 0:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return (end_event._at - self._at) * 1e3

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        """It has happened."""

    def wait(self, stream: Any = None) -> None:
        """It has happened."""


class Stream:
    """``torch.cuda.Stream``; as a context, the current one."""

    def __init__(self, device: Any = None, priority: int = 0) -> None:
        self.device = torch.device("cuda", mine().number(device))
        self.priority = priority

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        """All that was put into it is done."""

    def wait_stream(self, stream: Any) -> None:
        """All that was put into the other one is done."""

    def wait_event(self, event: Any) -> None:
        """It has happened."""

    def record_event(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.record(self)
        return event

    def is_capturing(self) -> bool:
        return False

    def __enter__(self) -> Stream:
        all_of_mine().append(self)
        return self

    def __exit__(self, *error: object) -> None:
        all_of_mine().pop()


class StreamContext:
    """``torch.cuda.StreamContext``, which ``torch.cuda.stream`` returns. Without a stream it does nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            self.stream.__enter__()

    def __exit__(self, *error: object) -> None:
        if self.stream is not None:
            self.stream.__exit__(*error)


def all_of_mine() -> list[Stream]:
    """The calling rank's default stream, and those that it has entered: the current one is the last."""
    entered = mine().streams
    if not entered:
        entered.append(Stream())
    return entered
