"""The side of a rank: it calls the test, and tells how it failed as pytest would.

The test comes as pytest has compiled it, with asserts that explain themselves. What they need of pytest, its comparison
of two values, is set up here; what pytest prints of the exception is made here, where its frames are.
"""

from __future__ import annotations

import inspect
import io
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cloudpickle
import pytest
from _pytest import assertion
from _pytest._io import TerminalWriter
from _pytest.assertion import util
from _pytest.outcomes import OutcomeException

from lockstep.errors import UsageError
from lockstep.testing.own_fixtures import NAMES, Capsys, calling, logged, patched
from lockstep.testing.rank_files import Failure, RankFiles


@dataclass(frozen=True)
class Manner:
    """How pytest was asked to print: of its command line and settings."""

    style: Any  # --tb
    locals: bool  # -l
    verbose: int
    log_level: int
    settings: Mapping[str, Any]


class Config:
    """As much of pytest's Config as the comparison of two values asks."""

    def __init__(self, manner: Manner) -> None:
        self._manner, self.pluginmanager = manner, self

    def has_plugin(self, name: str) -> bool:
        return False

    def get_verbosity(self, kind: str | None = None) -> int:
        return self._manner.verbose

    def get_terminal_writer(self) -> TerminalWriter:
        return TerminalWriter(io.StringIO())

    def getini(self, name: str) -> Any:
        return self._manner.settings[name]


def call(test: Callable[..., Any], arguments: Mapping[str, Any], folder: Path, manner: Manner) -> Any:
    """Call ``test`` on this rank, and return what it returns: None, or a function that is to be called outside."""
    __tracebackhide__ = True
    files = RankFiles(folder)
    explain(manner)
    setattr(sys, "breakpointhook", refuse_breakpoint)  # noqa: B010
    try:
        with logged(files, manner.log_level) as caplog, patched() as monkeypatch:
            own = dict(zip(NAMES, (monkeypatch, Capsys() if "capsys" in arguments else None, caplog), strict=True))
            after = test(**{name: own.get(name, value) for name, value in arguments.items()})
        if after is not None and not callable(after):
            raise UsageError(
                f"The test returned a {type(after).__name__} on rank {calling()}.",
                "On ranks a test returns nothing, or a function that pytest calls when they have ended.",
            )
        return after
    except BaseException as error:
        outcome = type(error).__name__ if isinstance(error, OutcomeException) else ""
        blob = None if outcome else pickled(error)
        files.fail(calling(), Failure(printed(error, test, manner), blob, outcome, str(error)))
        raise


def explain(manner: Manner) -> None:
    """Let asserts compare two values as in pytest."""
    config: Any = Config(manner)

    def compared(op: str, left: object, right: object) -> str | None:
        lines = assertion.pytest_assertrepr_compare(config, op, left, right)
        return "\n~".join(line.replace("\n", "\\n") for line in lines).replace("%", "%%") if lines else None

    util._reprcompare = compared


def printed(error: BaseException, test: Callable[..., Any], manner: Manner) -> Any:
    """What pytest prints of an exception, from the line of the test on."""
    found = pytest.ExceptionInfo.from_exception(error)
    code = getattr(inspect.unwrap(test), "__code__", None)
    if code:
        found.traceback = found.traceback.cut(path=code.co_filename)
    return found.getrepr(style=manner.style, showlocals=manner.locals)


def pickled(error: BaseException) -> bytes | None:
    try:
        blob: bytes = cloudpickle.dumps(error)
    except Exception:
        return None
    return blob


def refuse_breakpoint(*_: object, **__: object) -> None:
    raise UsageError(
        "A rank has no terminal for a debugger.",
        "Print, or call run() with the function that you test, and look at its show().",
    )
