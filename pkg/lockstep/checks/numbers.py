"""Numbers that functions return, as a judge reads and tells them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from torch import Tensor


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


def exact(answer: Any, want: Any) -> bool:
    """Whether an answer is the wanted number, not only nearly so; or None, where that is wanted."""
    return answer is None if want is None else number_of(answer) == want


def within(tolerance: float) -> Callable[[Any, float], bool]:
    """Whether an answer is a number that is off by ``tolerance`` at most."""

    def near(answer: Any, want: float) -> bool:
        value = number_of(answer)
        return value is not None and math.isclose(value, want, rel_tol=0, abs_tol=tolerance)

    return near


def number(value: float, digits: int = 4) -> str:
    """So many digits that count, and never a row of 30."""
    if not 10_000 <= abs(value) < 1e15:
        return f"{value:.{digits}g}"
    return f"{value:,.{max(0, digits - len(str(int(abs(value)))))}f}"


def apart(value: float, right: float) -> tuple[str, str]:
    """Both numbers as text, with as many digits as it takes to tell them apart."""
    pairs = ((number(value, digits), number(right, digits)) for digits in range(4, 18))
    return next((pair for pair in pairs if pair[0] != pair[1]), (f"{value!r}", f"{right!r}"))
