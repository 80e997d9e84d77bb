"""What an exercise gives and wants in a case, computed once: a check asks for it when it runs the case, when it judges
it, and again for each known wrong answer that it compares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lockstep.checks.case import Case

_of: tuple[str, dict[Any, Any]] = ("", {})  # the exercise that was asked last, and what it gave


class Once:
    """``make(case)``, or ``make(case, rank)``. What it gives belongs to all who ask: it is read, and never changed.
    Kept until another ``exercise`` is asked."""

    def __init__(self, make: Callable[..., Any], exercise: str) -> None:
        self.make, self._exercise = make, exercise

    def __call__(self, case: Case, *rank: int) -> Any:
        global _of
        if _of[0] != self._exercise:
            _of = self._exercise, {}
        kept, key = _of[1], (self.make, repr(case), *rank)
        if key not in kept:
            kept[key] = self.make(case, *rank)
        return kept[key]
