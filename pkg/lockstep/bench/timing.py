"""Measuring on a machine that others use, too: what is compared takes turns, and medians count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Literal

Size = Literal["quick", "normal", "full"]
Measured = Mapping[str, float]


def interleaved(cases: Sequence[Callable[[], Measured]], repeats: int) -> dict[str, float]:
    """Each case in turn, ``repeats`` times over: A B C A B C. The median of each number that they measured, by name.

    What disturbs the machine for a while then disturbs all cases, and their ratios stay.
    """
    found: dict[str, list[float]] = {}
    for _ in range(repeats):
        for case in cases:
            for name, value in case().items():
                found.setdefault(name, []).append(value)
    return {name: median(values) for name, values in found.items()}
