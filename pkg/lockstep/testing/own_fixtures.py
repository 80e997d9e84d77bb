"""Fixtures that a rank has for itself, where pytest's own would act on pytest's process: the same classes, on a rank.

monkeypatch   undone when the process goes on after the run; the virtual cluster's ends with it
capsys        what this rank has printed. It is printed all the same
caplog        what this rank has logged
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, TextIO

import pytest
from _pytest import logging as pytest_logging

from lockstep.launch.job import INSIDE
from lockstep.testing.rank_files import RankFiles

NAMES = ("monkeypatch", "capsys", "caplog")
STREAMS = ("stdout", "stderr")


def calling() -> int:
    """The rank of the calling thread, in any world."""
    return int(os.environ["RANK"])


@dataclass(frozen=True)
class Printed:
    """What ``capsys.readouterr()`` returns."""

    out: str
    err: str

    def __iter__(self) -> Iterator[str]:
        return iter((self.out, self.err))


class Heard:
    """A stream that passes text on, and keeps it by rank."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self.kept = stream, dict[int, str]()

    def write(self, text: str) -> int:
        self.kept[calling()] = self.kept.get(calling(), "") + text
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Capsys:
    """``capsys`` of a rank."""

    def __init__(self) -> None:
        for name in STREAMS:
            if not isinstance(getattr(sys, name), Heard):  # another rank of this process may have put it there
                setattr(sys, name, Heard(getattr(sys, name)))

    def readouterr(self) -> Printed:
        """What this rank has printed since the last call."""
        return Printed(*(getattr(sys, name).kept.pop(calling(), "") for name in STREAMS))


class OfRank(logging.Filter):
    """Passes what ``rank`` logs: ranks that share a process may share its loggers."""

    def __init__(self, rank: int) -> None:
        super().__init__()
        self._rank = rank

    def filter(self, record: logging.LogRecord) -> bool:
        return calling() == self._rank


class Telling(logging.Handler):
    """Writes what the rank logs to a file."""

    def __init__(self, files: RankFiles) -> None:
        super().__init__()
        self._files = files

    def emit(self, record: logging.LogRecord) -> None:
        self._files.log(calling(), record)


@contextmanager
def logged(files: RankFiles, level: int) -> Iterator[pytest.LogCaptureFixture]:
    """A ``caplog``, and a file for pytest. ``level``: that of pytest's root logger."""
    handler = pytest_logging.LogCaptureHandler()
    handler.setFormatter(logging.Formatter(pytest_logging.DEFAULT_LOG_FORMAT))
    stash = pytest.Stash()
    stash[pytest_logging.caplog_handler_key] = handler
    stash[pytest_logging.caplog_records_key] = {"call": handler.records}
    root, item = logging.getLogger(), SimpleNamespace(stash=stash)
    handlers = handler, Telling(files)
    root.setLevel(level)
    for one in handlers:
        one.addFilter(OfRank(calling()))
        root.addHandler(one)
    try:
        yield pytest.LogCaptureFixture(item, _ispytest=True)  # type: ignore[arg-type]
    finally:
        for one in handlers:
            root.removeHandler(one)


@contextmanager
def patched() -> Iterator[pytest.MonkeyPatch]:
    """A ``monkeypatch``. Ranks of a virtual cluster share a process: undone by one rank, it would be so for others."""
    patch = pytest.MonkeyPatch()
    try:
        yield patch
    finally:
        if os.environ.get(INSIDE) != "virtual":
            patch.undo()
