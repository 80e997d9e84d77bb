"""Timing on a machine that others use, too: what is compared is interleaved, and the median of each counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Literal

Size = Literal["quick", "normal", "full"]
Measured = Mapping[str, float]


def interleaved(
    cases: Sequence[Callable[[], Measured]], repeats: int, of: Callable[[list[float]], float] = median
) -> dict[str, float]:
    """Each case in turn, ``repeats`` times over: A B C A B C. Returns the median of each number that they measured, by
    name; or ``of=min``.

    What disturbs the machine for a while then disturbs all cases, and their ratios stay.
    """
    found: dict[str, list[float]] = {}
    for _ in range(repeats):
        for case in cases:
            for name, value in case().items():
                found.setdefault(name, []).append(value)
    return {name: of(values) for name, values in found.items()}
