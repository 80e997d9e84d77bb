"""Exercises that are one formula: the numbers that a function returns, and the wrong formula that would return them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.values import told

Formula = Callable[..., float]
Call = tuple[Any, ...]
CLOSE = 1e-6  # relative: any order of the operations is right


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
    answer: Callable[[float], str]  # "16.8"
    wanted: str  # "a speedup, as a number"
    wrong: Sequence[Wrong]

    def examine(self, seen: Seen, calls: Sequence[Call]) -> Fault | None:
        """The first answer that is wrong, told with the formula that would give all of these answers."""
        answers = []
        for call, value in zip(calls, seen.returned[0], strict=True):
            answer = number_of(value)
            if answer is None:
                return Fault("wrong-type", f"{self.call(*call)} returns {told(value)}; {self.wanted} is wanted.")
            answers.append(answer)
        off = [
            (call, value) for call, value in zip(calls, answers, strict=True) if not _near(value, self.formula(*call))
        ]
        if not off:
            return None
        begin = f"With {seen.case}: {self._first(off)}"
        for wrong in self.wrong:
            if all(_near(value, _given(wrong.formula, call)) for call, value in zip(calls, answers, strict=True)):
                return Fault(wrong.misconception, f"{begin} {wrong.message}")
        return Fault("wrong-values", f"{begin} {len(off)} of {len(calls)} answers are wrong.")

    def _first(self, off: Sequence[tuple[Call, float]]) -> str:
        call, value = off[0]
        return f"{self.call(*call)} gives {self.answer(value)}; it is {self.answer(self.formula(*call))}."


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


def _near(value: float, right: float) -> bool:
    return math.isclose(value, right, rel_tol=CLOSE, abs_tol=1e-300) or (math.isnan(value) and math.isnan(right))


def _given(formula: Formula, call: Call) -> float:
    """What a wrong formula gives; NaN where it fails, as the learner's would have."""
    try:
        return formula(*call)
    except (ZeroDivisionError, OverflowError, ValueError):
        return math.nan


def number(value: float) -> str:
    """Four digits that count."""
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
