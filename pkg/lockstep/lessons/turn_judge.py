"""Compares a learner's one to three lines with the author's solution, case by case; the verdict is a sentence."""

from __future__ import annotations

import copy
import inspect
import math
import reprlib
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from types import FrameType
from typing import Any, Literal

import numpy as np

from lockstep.lessons.behind import TurnSource

SECONDS = 5.0  # for all cases together
UNWRITTEN = "Not written yet. Replace the ... by your line, and run the cell."


class _Short(reprlib.Repr):
    """Values in a sentence: whole where they are short."""

    def __init__(self) -> None:
        super().__init__()
        self.maxother = self.maxstring = 60
        self.maxlist = self.maxtuple = self.maxdict = 12

    def repr_dict(self, x: dict[Any, Any], level: int) -> str:
        """In its own order: reprlib sorts the keys, and some lines are asked for that order."""
        if level <= 0:
            return "{...}"
        parts = [f"{self.repr1(key, level - 1)}: {self.repr1(x[key], level - 1)}" for key in list(x)[: self.maxdict]]
        return f"{{{', '.join(parts + ['...'] * (len(x) > self.maxdict))}}}"


_SHORT = _Short()


class _TooLong(BaseException):
    """No Exception: a learner's `except Exception` does not catch it."""


@dataclass(frozen=True)
class Outcome:
    """What a call gave: a value, or the type, the sentence and the line of an exception; or it did not end."""

    value: Any = None
    error: str = ""
    said: str = ""
    ended: bool = True

    def same(self, other: Outcome) -> bool:
        if not (self.ended and other.ended):
            return False
        return self.error == other.error and (bool(self.error) or same(self.value, other.value))


@dataclass(frozen=True)
class Task:
    """``right`` is the author's solution, ``wrong`` the known mistakes as programs, each with its sentence."""

    name: str
    right: Callable[..., Any]
    cases: Sequence[tuple[Any, ...]]
    wrong: Sequence[tuple[Callable[..., Any], str]]
    well: str

    def call(self, case: tuple[Any, ...]) -> str:
        """``tree_rounds(K=5)``."""
        parameters = inspect.signature(self.right).parameters
        return f"{self.name}({', '.join(f'{p}={_SHORT.repr(v)}' for p, v in zip(parameters, case, strict=False))})"


@dataclass(frozen=True)
class Verdict:
    kind: Literal["right", "wrong", "unwritten"]
    said: str


def task(name: str, source: TurnSource) -> Task:
    """The author's sources, run. They raise what the author's mistakes raise."""
    space: dict[str, Any] = {"__name__": f"turn {name}"}
    exec(compile(source.solution, f"<solution of {name}>", "exec"), space)
    exec(compile(source.behind, f"<behind {name}>", "exec"), space)
    return Task(name, space[name], list(space["cases"]), list(space["wrong"].items()), space["well"])


def judge(function: Callable[..., Any], task: Task) -> Verdict:
    """Compare ``function`` with the author's solution, case by case. It never raises what the learner's lines raise."""
    given = outcomes(function, task.cases)
    if all(_unwritten(o) for o in given) or _is_stub(function, given):
        return Verdict("unwritten", UNWRITTEN)
    wanted = outcomes(task.right, task.cases)
    differs = next((i for i, (g, w) in enumerate(zip(given, wanted, strict=False)) if not g.same(w)), None)
    if differs is None:
        well = task.well if task.well.startswith("Right") else f"Right. {task.well}"
        return Verdict("right", f"{well} ({len(task.cases)} cases)")
    first = _difference(task.call(task.cases[differs]), given[differs], wanted[differs])
    return Verdict("wrong", f"Not yet: {first} {recognised(given, task)}".strip())


def recognised(given: Sequence[Outcome], task: Task) -> str:
    """The sentence of the known mistake that behaves like this one on all cases, or nothing."""
    for program, sentence in task.wrong:
        theirs = outcomes(program, task.cases)
        if alike(given, theirs):
            return sentence
    return ""


def alike(one: Sequence[Outcome], other: Sequence[Outcome]) -> bool:
    return len(one) == len(other) and all(a.same(b) for a, b in zip(one, other, strict=True))


def outcomes(function: Callable[..., Any], cases: Sequence[tuple[Any, ...]]) -> list[Outcome]:
    """What ``function`` gives for each case, on copies of its arguments, up to the first call that does not end."""
    found: list[Outcome] = []
    try:
        with _limit(SECONDS):
            for case in cases:
                found.append(_outcome(function, case))
    except _TooLong:
        found.append(Outcome(ended=False))
    return found


def same(given: Any, wanted: Any) -> bool:
    """Equal as values: 3 and 3.0 are, and numbers that differ by rounding; lists and tensors element by element."""
    if isinstance(wanted, list | tuple):
        alike = isinstance(given, list | tuple) and len(given) == len(wanted)
        return alike and all(map(same, given, wanted))
    if isinstance(wanted, dict):
        return (
            isinstance(given, dict) and given.keys() == wanted.keys() and all(same(given[k], wanted[k]) for k in wanted)
        )
    if isinstance(wanted, Real) and isinstance(given, Real):
        return math.isclose(given, wanted, rel_tol=1e-6, abs_tol=1e-12)
    if hasattr(wanted, "shape"):
        if getattr(given, "shape", None) != wanted.shape:
            return False
        return np.allclose(np.asarray(given, float), np.asarray(wanted, float), rtol=1e-5)
    return type(given) is type(wanted) and bool(given == wanted)


def _outcome(function: Callable[..., Any], case: tuple[Any, ...]) -> Outcome:
    try:
        return Outcome(function(*copy.deepcopy(case)))
    except Exception as error:
        return Outcome(error=type(error).__name__, said=_crash(error, function))


def _crash(error: Exception, function: Callable[..., Any]) -> str:
    said = f"{type(error).__name__}: {error}".removesuffix(": ")
    mine = getattr(getattr(function, "__code__", None), "co_filename", "")
    lines = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == mine]
    return f"{said} (in line {lines[-1].lineno}: {lines[-1].line})" if lines and lines[-1].line else said


def _difference(call: str, given: Outcome, wanted: Outcome) -> str:
    if not given.ended:
        told = f"{call} did not come to an end within {SECONDS:g} seconds."
        return f"{told} Either a loop in it never ends, or it takes longer than that."
    if given.error:
        return f"{call} raised {given.said}."
    if given.value is None:
        return f"{call} gives nothing. Does every way through it end with return?"
    return f"{call} gives {_SHORT.repr(given.value)}; it should be {_SHORT.repr(wanted.value)}."


def _unwritten(outcome: Outcome) -> bool:
    return outcome.error == "NotImplementedError" or outcome.value is Ellipsis


def _is_stub(function: Callable[..., Any], given: Sequence[Outcome]) -> bool:
    """It gives nothing, and its text still has the dots."""
    if any(o.error or o.value is not None or not o.ended for o in given):
        return False
    try:
        return any(line.rstrip().endswith("...") for line in inspect.getsource(function).splitlines())
    except (OSError, TypeError):
        return False


@contextmanager
def _limit(seconds: float) -> Iterator[None]:
    """Raise _TooLong inside when time is over, and again, in case a bare `except` has caught it.

    Cells run in the main thread; elsewhere there are no signals, and no limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise _TooLong

    handler = signal.signal(signal.SIGALRM, ring)
    timer = signal.setitimer(signal.ITIMER_REAL, seconds, 0.2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, *timer)
