"""``fit_alpha_beta``: a pure function. A wrong formula is recognised by computing what it would answer."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.values import told

Pair = tuple[float, float]
POINTS = 2
NEAR = 0.04  # how far the fit of noisy measurements may be off


def _fit_cases(ranks: int, seed: int) -> list[Case]:
    draw = random.Random(seed)
    truth = {"alpha": draw.randint(20, 60) * 1e-6, "beta": draw.randint(2, 9) * 1e-10}
    return [Case(1, seed, settings={**truth, "noise": noise, "trivial": False}) for noise in (0.0, 0.1)]


def _samples(case: Case) -> tuple[list[int], list[float]]:
    """Times on a line; with noise, every size is measured eight times, and the errors of each size cancel out."""
    s, draw = case.settings, random.Random(case.seed)
    start = round(0.5 * s["alpha"] / s["beta"])  # so large that the smallest message's n·beta matters
    sizes, times = [], []
    for n in [start * 2**i for i in range(6)]:
        halves = [s["noise"] * draw.uniform(0.7, 1.0) for _ in range(4 if s["noise"] else 1)]
        for error in [e * sign for e in halves for sign in (1, -1)] if s["noise"] else [0.0]:
            sizes.append(n)
            times.append((s["alpha"] + n * s["beta"]) * (1 + error))
    return sizes, times


def _fit_calls(case: Case, rank: int) -> tuple[Any, ...]:
    return (_samples(case),)


def _fit_examine(seen: Seen) -> Fault | None:
    answer = seen.returned[0][0]
    numbers = isinstance(answer, list) and len(answer) == 2 and all(isinstance(v, (int, float)) for v in answer)
    if not numbers:
        return Fault("wrong-type", f"It returns {told(answer)}; a pair of numbers (alpha, beta) is wanted.")
    s = seen.case.settings
    alpha, beta = float(answer[0]), float(answer[1])
    tolerance = NEAR if s["noise"] else 1e-5
    if math.isclose(alpha, s["alpha"], rel_tol=tolerance) and math.isclose(beta, s["beta"], rel_tol=tolerance):
        return None
    measured = "noisy measurements" if s["noise"] else "points that lie on a line exactly"
    begin = f"For {measured}, you return alpha = {alpha:.4g} and beta = {beta:.4g}; they were made with alpha = "
    begin += f"{s['alpha']:.4g} s and beta = {s['beta']:.4g} s per byte. "
    for id, message, wrong in WRONG_FITS:
        if _close((alpha, beta), wrong(*_samples(seen.case))):
            return Fault(id, begin + message)
    return Fault("wrong-values", f"{begin}Fit t = alpha + n·beta by least squares over all the points.")


def _close(a: Pair, b: Pair) -> bool:
    return all(math.isclose(x, y, rel_tol=1e-5, abs_tol=1e-18) for x, y in zip(a, b, strict=True))


def least_squares(n: Sequence[float], t: Sequence[float]) -> Pair:
    """The line through all points: (where it meets the axis, its slope)."""
    middle, level = sum(n) / len(n), sum(t) / len(t)
    slope = sum((a - middle) * (b - level) for a, b in zip(n, t, strict=True)) / sum((a - middle) ** 2 for a in n)
    return level - slope * middle, slope


def _through_origin(n: Sequence[float], t: Sequence[float]) -> Pair:
    return 0.0, sum(a * b for a, b in zip(n, t, strict=True)) / sum(a * a for a in n)


def _two_points(pick: Callable[[Sequence[float], float], int]) -> Callable[[Sequence[float], Sequence[float]], Pair]:
    """A line through one sample of the smallest and one of the largest size."""

    def fit(n: Sequence[float], t: Sequence[float]) -> Pair:
        small, large = pick(n, min(n)), pick(n, max(n))
        slope = (t[large] - t[small]) / (n[large] - n[small])
        return t[small] - slope * n[small], slope

    return fit


def _first(n: Sequence[float], value: float) -> int:
    return list(n).index(value)


def _last(n: Sequence[float], value: float) -> int:
    return len(n) - 1 - list(n)[::-1].index(value)


def _ends(n: Sequence[float], value: float) -> int:
    return _first(n, value) if value == min(n) else _last(n, value)


def _smallest_sample(n: Sequence[float], t: Sequence[float]) -> Pair:
    return min(t), (max(t) - min(t)) / max(n)


def _smallest_first(n: Sequence[float], t: Sequence[float]) -> Pair:
    alpha = t[_first(n, min(n))]
    return alpha, (t[_last(n, max(n))] - alpha) / max(n)


def _log_log(n: Sequence[float], t: Sequence[float]) -> Pair:
    level, slope = least_squares([math.log(a) for a in n], [math.log(b) for b in t])
    return math.exp(level), slope


def _changed(change: Callable[[float, float], Pair]) -> Callable[[Sequence[float], Sequence[float]], Pair]:
    return lambda n, t: change(*least_squares(n, t))


_TWO = "Two points make the line, and their noise is in it: use all of them."
_SMALLEST = "The time of the smallest message is not alpha: its n·beta is still in it, and one sample is all noise."
_LOG = "A straight line through log n and log t is a power law, which has no alpha. Fit t itself."

WRONG_FITS: Sequence[tuple[str, str, Callable[[Sequence[float], Sequence[float]], Pair]]] = (
    ("swapped", "They are exchanged: alpha comes first.", _changed(lambda a, b: (b, a))),
    ("bandwidth-not-beta", "You return bytes per second; beta is seconds per byte.", _changed(lambda a, b: (a, 1 / b))),
    ("bits-not-bytes", "Your beta is for each bit: a byte has 8.", _changed(lambda a, b: (a, b / 8))),
    ("wrong-unit", "Both are a million times too large: seconds, not µs.", _changed(lambda a, b: (a * 1e6, b * 1e6))),
    ("through-origin", "A line through the origin has no latency: alpha is where it meets the axis.", _through_origin),
    ("alpha-from-smallest", _SMALLEST, _smallest_sample),
    ("alpha-from-smallest", _SMALLEST, _smallest_first),
    ("two-points-only", _TWO, _two_points(_first)),
    ("two-points-only", _TWO, _two_points(_last)),
    ("two-points-only", _TWO, _two_points(_ends)),
    ("log-log", _LOG, _log_log),
    ("log-log", _LOG, lambda n, t: _log_log(n, t)[::-1]),
)


def _judge_fit(observation: Observation) -> list[Finding]:
    return mark(observation, POINTS, _fit_examine)


FIT = Exercise(
    id="communication.fit_alpha_beta",
    title="Fit alpha and beta",
    points=POINTS,
    minutes=15,
    parameters="nbytes, seconds",
    cases=_fit_cases,
    inputs=_fit_calls,
    judge=_judge_fit,
    reference="lockstep.cost.fit:fit_alpha_beta",
    worlds=(1,),
    pure=True,
)
