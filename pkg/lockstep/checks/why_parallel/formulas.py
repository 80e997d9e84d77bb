"""Exercises that are one formula: the numbers that a function returns, and the wrong formula that would return them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from lockstep.checks.hints import Hint, hinted
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.values import told

Formula = Callable[..., float]
Call = tuple[Any, ...]
Answers = Sequence[tuple[Call, float]]  # each call, with the number that came back
CLOSE = 1e-6  # relative: any order of the operations is right
ROUNDINGS: tuple[Callable[[float], float], ...] = (
    math.floor,
    math.ceil,
    *(lambda x, k=k: round(x, k) for k in range(6)),
)


_NO_RETURN = " Does every way through your function end with return?"


@dataclass(frozen=True)
class Wrong:
    """A formula that learners write, and what to tell them."""

    misconception: str
    message: str
    formula: Formula


@dataclass(frozen=True)
class Asked:
    """What an exercise wants: the right formula, how a call and its answer are told, and the known wrong formulas."""

    formula: Formula
    call: Callable[..., str]  # amdahl(0.95, 100)
    answer: Callable[[float, int], str]  # a number and how many of its digits count -> "16.8"
    wanted: str  # "a speedup, as a float"
    wrong: Sequence[Wrong]
    steps: Callable[..., str]  # of a call: the numbers on the way to its answer
    hints: Sequence[Hint] = ()  # what to do about errors

    def judge(self, observation: Observation, points: float, calls: Callable[..., Sequence[Call]]) -> list[Finding]:
        """What explains the answers of all cases is told of each; or else, of each, what explains its own."""
        answers = [row for seen in observation if not seen.failure for row in self._answers(seen, calls(seen.case))]
        known = self._explained(answers) if any(self._is_off(row) for row in answers) else None
        found = mark(observation, points, lambda seen: self.examine(seen, calls(seen.case), known))
        return hinted(found, observation, self.hints)

    def examine(self, seen: Seen, calls: Sequence[Call], known: Wrong | None = None) -> Fault | None:
        """The first answer that is wrong, told with the formula that would give all of these answers."""
        for call, value in zip(calls, seen.returned[0], strict=True):
            if number_of(value) is None:
                told = f"{self.call(*call)} returns {returned(value)}; {self.wanted} is wanted."
                return Fault("wrong-type", f"{told}{_NO_RETURN if value is None else ''}")
        answers = self._answers(seen, calls)
        off = [row for row in answers if self._is_off(row)]
        if not off:
            return None
        begin = f"With {seen.case}: {self._first(off)}"
        wrong = known or (None if seen.case.trivial else self._explained(answers))  # ends fit too many formulas
        if wrong:
            return Fault(wrong.misconception, f"{begin} {wrong.message}")
        some = f"{len(off)} of {len(calls)} answers are wrong" if len(calls) > 1 else "It is wrong"
        return Fault("wrong-values", f"{begin} {some}. On the way: {self.steps(*off[0][0])}")

    def _answers(self, seen: Seen, calls: Sequence[Call]) -> Answers:
        given = ((call, number_of(value)) for call, value in zip(calls, seen.returned[0], strict=True))
        return [(call, math.nan if value is None else value) for call, value in given]

    def _is_off(self, row: tuple[Call, float]) -> bool:
        return not _near(row[1], self.formula(*row[0]))

    def _explained(self, answers: Answers) -> Wrong | None:
        """The wrong formula that gives just these answers."""
        return next((w for w in self._known() if all(_near(v, _given(w.formula, call)) for call, v in answers)), None)

    def _known(self) -> Iterable[Wrong]:
        yield from self.wrong
        for rounding in ROUNDINGS:
            message = "Your formula is right, but you round its value: return it as it is."
            yield Wrong("rounded", message, lambda *call, r=rounding: r(self.formula(*call)))

    def _first(self, off: Answers) -> str:
        call, value = off[0]
        given, right = apart(value, self.formula(*call), self.answer)
        return f"{self.call(*call)} gives {given}; it is {right}."


def number_of(value: Any) -> float | None:
    """A number, as Python's, as numpy's or as a tensor of one element; None for anything else."""
    if isinstance(value, Tensor) and value.numel() == 1:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def returned(value: Any) -> str:
    """What came back in place of a number. A numpy array reaches the judge as a list."""
    return f"a list or an array of {told(value)}" if isinstance(value, list) else told(value)


def _near(value: float, right: float) -> bool:
    return math.isclose(value, right, rel_tol=CLOSE, abs_tol=1e-300) or (math.isnan(value) and math.isnan(right))


def _given(formula: Formula, call: Call) -> float:
    """What a wrong formula gives; NaN where it fails, as the learner's would have."""
    try:
        return formula(*call)
    except (ZeroDivisionError, OverflowError, ValueError):
        return math.nan


def number(value: float, digits: int = 4) -> str:
    """So many digits that count, and never a row of 30."""
    if not 10_000 <= abs(value) < 1e15:
        return f"{value:.{digits}g}"
    return f"{value:,.{max(0, digits - len(str(int(abs(value)))))}f}"


def apart(value: float, right: float, answer: Callable[[float, int], str] = number) -> tuple[str, str]:
    """Both numbers as text, with as many digits as it takes to tell them apart."""
    pairs = ((answer(value, digits), answer(right, digits)) for digits in range(4, 18))
    return next((pair for pair in pairs if pair[0] != pair[1]), (f"{value!r}", f"{right!r}"))
