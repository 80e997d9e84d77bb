"""``fit_alpha_beta``: a pure function. A wrong formula is recognised by computing what it would answer."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from torch import Tensor

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.values import told

Pair = tuple[float, float]
Numbers = Sequence[float]
MayBe = Callable[[Pair, Numbers, Numbers], bool]  # could this misconception have given that answer?

POINTS = 2
EXACT = 1e-5  # how far the fit of points on a line may be off
NEAR = 0.04  # how far the fit of noisy measurements may be off


def _fit_cases(ranks: int, seed: int) -> list[Case]:
    draw = random.Random(seed)
    truth = {"alpha": draw.randint(40, 60) * 1e-6, "beta": draw.randint(14, 24) * 1e-11}
    return [Case(1, seed, settings={**truth, "noise": noise, "trivial": False}) for noise in (0.0, 0.1)]


def _samples(case: Case) -> tuple[list[int], list[float]]:
    """Times on a line; with noise, every size is measured eight times, and the errors of each size cancel out. Sizes
    reach 2.5 million bytes and more, where float32 is never enough for lstsq, and always for the closed form."""
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
    pair = _pair(seen.returned[0][0])
    if pair is None:
        what = told(seen.returned[0][0])
        return Fault("wrong-type", f"It returns {what}; a pair of numbers (alpha, beta) is wanted.")
    s, exact = seen.case.settings, not seen.case.settings["noise"]
    (alpha, beta), truth = pair, (s["alpha"], s["beta"])
    if _close(pair, truth, EXACT if exact else NEAR):
        return None
    measured = "points that lie on a line exactly" if exact else "noisy measurements"
    begin = f"For {measured}, you return alpha = {alpha:.4g} and beta = {beta:.4g}; they were made with alpha = "
    begin += f"{s['alpha']:.4g} s and beta = {s['beta']:.4g} s per byte. "
    for id, message, may_be in WRONG_FITS:
        if may_be(pair, *_samples(seen.case)):
            return Fault(id, begin + message)
    return Fault("wrong-values", f"{begin}Fit t = alpha + n·beta by least squares over all the points.")


def _pair(answer: Any) -> Pair | None:
    """Two numbers, as Python's, as numpy's, as tensors of one element, or as one tensor of two."""
    values = answer.flatten().tolist() if isinstance(answer, Tensor) else answer
    if not isinstance(values, list) or len(values) != 2:
        return None
    numbers = [v.item() if isinstance(v, Tensor) and v.numel() == 1 else v for v in values]
    return (float(numbers[0]), float(numbers[1])) if all(isinstance(v, (int, float)) for v in numbers) else None


def _close(pair: Pair, truth: Pair, tolerance: float) -> bool:
    return all(math.isclose(a, b, rel_tol=tolerance) for a, b in zip(pair, truth, strict=True))


def least_squares(n: Numbers, t: Numbers) -> Pair:
    """The line through all points: (where it meets the axis, its slope)."""
    middle, level = sum(n) / len(n), sum(t) / len(t)
    slope = sum((a - middle) * (b - level) for a, b in zip(n, t, strict=True)) / sum((a - middle) ** 2 for a in n)
    return level - slope * middle, slope


def _near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=EXACT, abs_tol=1e-18)


def _changed(change: Callable[[float, float], Pair]) -> MayBe:
    """The right line, told wrongly."""

    def may_be(answer: Pair, n: Numbers, t: Numbers) -> bool:
        wrong = change(*least_squares(n, t))
        return _near(answer[0], wrong[0]) and _near(answer[1], wrong[1])

    return may_be


def _through_origin(answer: Pair, n: Numbers, t: Numbers) -> bool:
    slope = sum(a * b for a, b in zip(n, t, strict=True)) / sum(a * a for a in n)
    return answer[0] == 0 and _near(answer[1], slope)


def _single_precision(answer: Pair, n: Numbers, t: Numbers) -> bool:
    """What `torch.linalg.lstsq` gives for float32: a tiny alpha that is not quite 0."""
    return 0 < abs(answer[0]) < 1e-6 * min(t) and math.isclose(answer[1], least_squares(n, t)[1], rel_tol=0.5)


def _ends(n: Numbers, t: Numbers) -> Iterator[tuple[Pair, Pair]]:
    """Every sample of the smallest size with every sample of the largest."""
    samples = list(zip(n, t, strict=True))
    return product([s for s in samples if s[0] == min(n)], [s for s in samples if s[0] == max(n)])


def _alpha_from_smallest(answer: Pair, n: Numbers, t: Numbers) -> bool:
    return any(_near(answer[0], small[1]) for small, _ in _ends(n, t))


def _two_points(answer: Pair, n: Numbers, t: Numbers) -> bool:
    slopes = [(a[1], a[0], (b[1] - a[1]) / (b[0] - a[0])) for a, b in _ends(n, t)]
    return any(_near(answer[1], slope) and _near(answer[0], time - slope * size) for time, size, slope in slopes)


def _log_log(answer: Pair, n: Numbers, t: Numbers) -> bool:
    level, slope = least_squares([math.log(a) for a in n], [math.log(b) for b in t])
    return any(_near(value, wrong) for value in answer for wrong in (math.exp(level), slope))


_TWO = "Two points make the line, and their noise is in it: use all of them."
_SMALLEST = "The time of the smallest message is not alpha: its n·beta is still in it, and one sample is all noise."
_LOG = "A straight line through log n and log t is a power law, which has no alpha. Fit t itself."

_ROUGH = (
    "It looks as if lstsq computed in float32: beside sizes of millions it takes a column of ones for rounding, and "
    "drops alpha. Make the tensors with dtype=torch.float64."
)
UNITS = {"milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}


def _units() -> Iterator[tuple[str, Callable[[float, float], Pair]]]:
    """The right line in other units than seconds and seconds per byte."""
    for name, f in UNITS.items():
        yield f"Both are {f:,.0f} times too large: you return {name}; seconds are wanted.", _scaled(f, f)
        yield f"alpha is {f:,.0f} times too large: you return {name}; seconds are wanted.", _scaled(f, 1)
        beta = f"beta is {f:,.0f} times too large: seconds per byte are wanted, neither {name} per byte nor "
        yield f"{beta}seconds per {f:,.0f} bytes.", _scaled(1, f)
        yield f"Both are {f:,.0f} times too small: the times are seconds already.", _scaled(1 / f, 1 / f)


def _scaled(first: float, second: float) -> Callable[[float, float], Pair]:
    return lambda a, b: (a * first, b * second)


WRONG_FITS: Sequence[tuple[str, str, MayBe]] = (
    ("swapped", "They are exchanged: alpha comes first.", _changed(lambda a, b: (b, a))),
    ("bandwidth-not-beta", "You return bytes per second; beta is seconds per byte.", _changed(lambda a, b: (a, 1 / b))),
    ("bits-not-bytes", "Your beta is for each bit: a byte has 8.", _changed(lambda a, b: (a, b / 8))),
    *(("wrong-unit", message, _changed(change)) for message, change in _units()),
    ("single-precision", _ROUGH, _single_precision),
    ("through-origin", "A line through the origin has no latency: alpha is where it meets the axis.", _through_origin),
    ("alpha-from-smallest", _SMALLEST, _alpha_from_smallest),
    ("two-points-only", _TWO, _two_points),
    ("log-log", _LOG, _log_log),
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
