"""What a wrong line goes by: two of the measurements, one of each size, a slope between two, or all of them in vain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from lockstep.checks.run_faults import row
from lockstep.checks.wording import listed

EXACT = 1e-9  # relative
MANY = 10_000  # ways to choose a measurement of each size: more are not tried
FAR = 100.0  # times the least squares: a line as far off as that is no fit
NARROW = 0.01  # so little the times differ, relatively


def what_it_fits(answer: Any, nbytes: Sequence[int], seconds: Sequence[float]) -> str:
    """One true sentence on the line (alpha, beta) through these measurements, the most specific one."""
    alpha, beta = row(answer)
    if not math.isfinite(alpha + beta):
        return ""
    n, t = np.array(nbytes, dtype=float), np.array(seconds)
    met = sorted(n[np.isclose(alpha + n * beta, t, rtol=EXACT, atol=0)])
    if 1 < len(met) < len(n) and met[0] < met[-1]:
        places = listed([f"{size:,.0f}" for size in met])
        return f"Your line goes exactly through those of {places} bytes, as if there were no others: use all {len(n)}."
    if np.ptp(t) < NARROW * t.max():
        told = f"These times differ by {np.ptp(t) / t.max():.1%}, and float32 rounds each to 7 digits"
        return f"{told}: is anything in float32?"
    if _is_of_one_a_size(alpha, beta, n, t):
        return (
            f"Your line fits one measurement of each size, and leaves the others of its {len(n)} out: use all of them."
        )
    if pair := _slope_of(beta, n, t):
        return (
            f"Your beta is exactly the slope between two of them, of {pair[0]:,.0f} and {pair[1]:,.0f} bytes, as a "
            "median of slopes is: in least squares every measurement has its part."
        )
    best = ((t - np.polyval(np.polyfit(n, t, 1), n)) ** 2).sum()
    times = ((t - alpha - n * beta) ** 2).sum() / best if best > (EXACT * t.max()) ** 2 else np.inf
    return f"The squares of your line's errors add up to {times:.4g} times the least." if 1.0005 < times < FAR else ""


def _is_of_one_a_size(alpha: float, beta: float, n: Any, t: Any) -> bool:
    """Whether it is the least-squares line of some choice of one measurement of each size."""
    sizes = np.unique(n)
    of_each = [t[n == size] for size in sizes]
    if len(sizes) == len(n) or np.prod([len(times) for times in of_each], dtype=float) > MANY:
        return False
    chosen = np.array(list(product(*of_each)))
    slopes = (chosen - chosen.mean(1, keepdims=True)) @ (sizes - sizes.mean()) / ((sizes - sizes.mean()) ** 2).sum()
    starts = chosen.mean(1) - slopes * sizes.mean()
    return bool((np.isclose(slopes, beta, rtol=EXACT, atol=0) & np.isclose(starts, alpha, rtol=EXACT, atol=0)).any())


def _slope_of(beta: float, n: Any, t: Any) -> tuple[float, float] | None:
    """The sizes of two measurements between which the slope is ``beta``."""
    wide, high = n[:, None] - n, t[:, None] - t
    i, j = np.nonzero((wide > 0) & np.isclose(high, beta * wide, rtol=EXACT, atol=0))
    return (n[j[0]], n[i[0]]) if len(i) else None
