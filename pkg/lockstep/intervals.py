"""Stretches of time as lists of (begin, end): what they cover together, and what two of them have in common."""

from __future__ import annotations

from collections.abc import Iterable

Intervals = list[tuple[float, float]]  # in order, and none meets the next


def merged(spans: Iterable[tuple[float, float]]) -> Intervals:
    """The union of ``spans``."""
    found: Intervals = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((begin, end))
    return found


def length(of: Intervals) -> float:
    return sum(end - begin for begin, end in of)


def common(one: Intervals, other: Intervals) -> float:
    """How long both last at the same time."""
    shared, i, j = 0.0, 0, 0
    while i < len(one) and j < len(other):
        shared += max(0.0, min(one[i][1], other[j][1]) - max(one[i][0], other[j][0]))
        if one[i][1] < other[j][1]:
            i += 1
        else:
            j += 1
    return shared
