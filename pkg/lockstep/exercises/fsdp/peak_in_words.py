"""The peak of a step, in words: for the check of ``predict_peak``."""

from __future__ import annotations

from itertools import accumulate

from lockstep.cost.sharding import FLOAT32, changes, held


def steps(sizes: list[int], ranks: int, stage: int) -> str:
    """What comes and goes, as far as it fits into a line."""
    moved, always = [*changes(sizes, ranks, stage)], held(sizes, ranks, stage)
    sums = [*accumulate(moved)]
    at, more = sums.index(max(sums)), " ..." if len(moved) > 9 else ""
    there = (
        f"The most is there after change {at + 1} ({moved[at]:+,}): {always + sums[at]:,} numbers of {FLOAT32} bytes."
    )
    return f"{always:,} numbers all the time; then {' '.join(f'{n:+,}' for n in moved[:9])}{more}. {there}"
