"""Which call of a pure exercise was under way when its run failed or hung, and that call as text.

The calls share a process. It writes the number of each into a file before it begins, since of a process that is ended
from outside nothing comes back."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lockstep.checks.exercise import Exercise

MOST = 6  # items of a list
MOST_TEXT = 20  # characters of a string
MOST_RUNS = 100_000  # that are noted


@dataclass(frozen=True)
class Begun:
    """The call that had begun last, for how many seconds it had been under way, and how often all calls had called
    `run`."""

    number: int
    seconds: float
    runs: int = 0


@dataclass(frozen=True)
class UnderWay:
    """``begin(number)`` and ``run()`` in the process that calls; ``last()`` in the one that waits for it: None before
    the first."""

    path: Path

    def begin(self, number: int) -> None:
        self.path.write_text(str(number))

    def run(self) -> None:
        """A call begins a run. In a file of its own: the other one's time is that of the call."""
        with self._runs.open("a") as file:
            file.write(".")

    @property
    def _runs(self) -> Path:
        return self.path.with_suffix(".runs")

    def take_over(self, begun: Begun | None) -> None:
        """What was noted where the calls were made, if that was a place of which this process sees no files."""
        if begun:
            self.path.write_text(str(begun.number))
            os.utime(self.path, (time.time() - begun.seconds,) * 2)
            self._runs.write_text("." * min(begun.runs, MOST_RUNS))

    def last(self) -> Begun | None:
        try:
            runs = self._runs.stat().st_size if self._runs.exists() else 0
            return Begun(int(self.path.read_text()), time.time() - self.path.stat().st_mtime, runs)
        except (OSError, ValueError):
            return None


@contextmanager
def under_way() -> Iterator[UnderWay]:
    """A note on which of several calls has begun, for as long as they run."""
    global current
    with TemporaryDirectory(prefix="lockstep-") as folder:
        current = UnderWay(Path(folder) / "call")
        try:
            yield current
        finally:
            current = None


current: UnderWay | None = None  # that is being written now


def told_call(exercise: Exercise, arguments: tuple[Any, ...]) -> str:
    """As in ``workers_needed(8.0, 0.5, 4.0)``; empty for arguments that a line does not hold, or that a watch replaces
    by others."""
    if exercise.feedback.call:
        return exercise.feedback.call(arguments)
    named = len(arguments) == 1 and isinstance(arguments[0], str)  # a text alone names what a watch makes
    if named or len(arguments) != len(exercise.parameters.split(",")):
        return ""
    told = [_told(a) for a in arguments]
    return f"{exercise.function}({', '.join(told)})" if all(told) else ""


def _told(value: Any) -> str:
    if isinstance(value, float):
        return repr(value)  # in full: with rounded arguments the answer would be another
    if isinstance(value, (bool, int)) or (isinstance(value, str) and len(value) <= MOST_TEXT):
        return repr(value)
    if isinstance(value, list) and all(map(_told, value)):
        return f"[{', '.join([_told(v) for v in value[:MOST]] + (['...'] if len(value) > MOST else []))}]"
    if isinstance(value, dict) and all(isinstance(v, str) for v in value.values()):
        return repr(value)
    return ""
