"""``fit_parallel_fraction``: p of Amdahl's law from measured times. A wrong fit is known by what it would answer."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import product

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.values import told
from lockstep.checks.why_parallel.formulas import number_of

Numbers = Sequence[float]
Guess = Callable[[Numbers, Numbers], Iterator[float]]  # what a misconception might answer, from workers and times

POINTS = 3
NOISE = 0.12
NEAR = 0.06  # how far 1 - p may be off where there is noise, as a share of itself


def _cases(ranks: int, seed: int) -> list[Case]:
    draw = random.Random(seed)
    p, seconds = draw.choice((0.84, 0.87, 0.92, 0.93)), draw.choice((7.0, 9.0, 12.0))
    kinds = {
        "exact": "times that follow Amdahl's law exactly",
        "alone": "exact times, none of them of 1 worker",
        "noise": "noisy times, four runs of each, in any order",
    }
    return [Case(1, seed, settings={"told": kinds[k], "kind": k, "p": p, "seconds": seconds}) for k in kinds]


def samples(case: Case) -> tuple[list[int], list[float]]:
    """Workers and times. The errors of the four runs of a number of workers cancel out."""
    p, seconds, kind = (case.settings[k] for k in ("p", "seconds", "kind"))
    draw = random.Random(case.seed)
    rows: list[tuple[int, float]] = []
    for s in (2, 4, 8, 16) if kind == "alone" else (1, 2, 4, 8, 16):
        halves = [NOISE * draw.uniform(0.7, 1.0) for _ in range(2)] if kind == "noise" else [0.0]
        errors = [e * sign for e in halves for sign in (1, -1)] if kind == "noise" else [0.0]
        rows += [(s, seconds * ((1 - p) + p / s) * (1 + error)) for error in errors]
    if kind == "noise":
        draw.shuffle(rows)
    return [s for s, _ in rows], [t for _, t in rows]


def _calls(case: Case, rank: int) -> tuple[tuple[list[int], list[float]], ...]:
    return (samples(case),)


def line(x: Numbers, y: Numbers) -> tuple[float, float]:
    """(where it meets the axis, slope) of the straight line with the least squares."""
    middle, level = sum(x) / len(x), sum(y) / len(y)
    slope = sum((a - middle) * (b - level) for a, b in zip(x, y, strict=True)) / sum((a - middle) ** 2 for a in x)
    return level - slope * middle, slope


def _against_shares(s: Numbers, t: Numbers) -> tuple[float, float]:
    """(serial, parallel) seconds: the right line, through t against 1/s."""
    return line([1 / a for a in s], t)


def right(s: Numbers, t: Numbers) -> float:
    serial, parallel = _against_shares(s, t)
    return parallel / (serial + parallel)


def _serial(s: Numbers, t: Numbers) -> Iterator[float]:
    yield 1 - right(s, t)


def _seconds(s: Numbers, t: Numbers) -> Iterator[float]:
    yield from _against_shares(s, t)


def _ratio(s: Numbers, t: Numbers) -> Iterator[float]:
    serial, parallel = _against_shares(s, t)
    yield from (parallel / serial, serial / parallel)


def _as_speedups(s: Numbers, t: Numbers) -> Iterator[float]:
    """Times taken for speedups: 1/t = (1-p) + p/s."""
    start, slope = line([1 / a for a in s], [1 / b for b in t])
    yield from (slope, 1 - start, slope / (start + slope))
    yield from (_through_one(s, t),)


def _through_one(s: Numbers, speedups: Numbers) -> float:
    """p of 1/S = 1 - p·(1 - 1/s), a line through (1, 1)."""
    x, y = [1 - 1 / a for a in s], [1 - 1 / b for b in speedups]
    return sum(a * b for a, b in zip(x, y, strict=True)) / sum(a * a for a in x)


def _first_is_one(s: Numbers, t: Numbers) -> Iterator[float]:
    """The first time taken for that of one worker, whatever it was."""
    speedups = [t[0] / b for b in t]
    start, slope = line([1 / a for a in s], [1 / b for b in speedups])
    yield from (_through_one(s, speedups), slope, 1 - start)


def _against_workers(s: Numbers, t: Numbers) -> Iterator[float]:
    start, slope = line(s, t)
    yield from (slope / (start + slope), -slope / start, 1 + slope, -slope)
    speedups = [t[0] / b for b in t]
    start, slope = line(s, speedups)
    yield from (slope, slope / (start + slope))


def _two_points(s: Numbers, t: Numbers) -> Iterator[float]:
    """Any run of the fewest workers with any run of another number."""
    rows = list(zip(s, t, strict=True))
    few = [row for row in rows if row[0] == min(s)]
    for (a, x), (b, y) in product(few, [row for row in rows if row[0] != min(s)]):
        parallel = (x - y) / (1 / a - 1 / b)
        yield parallel / (x - parallel / a + parallel)


def _mean_of_points(s: Numbers, t: Numbers) -> Iterator[float]:
    """p worked out for every run with the time of a first one, and averaged (Karp and Flatt's way)."""
    rows = list(zip(s, t, strict=True))
    for _, base in [row for row in rows if row[0] == 1]:
        found = [(1 - b / base) / (1 - 1 / a) for a, b in rows if a > 1]
        yield sum(found) / len(found)


_FIRST = (
    "It looks as if you took the first time for that of one worker. Nobody says that it is: look at workers. A line "
    "through t against 1/s needs no such time."
)
_SECONDS = (
    "Your line is right, but you return seconds. p is the parallel seconds divided by all: slope / (start + slope)."
)
_TWO = "It looks as if two runs decided alone, and their noise is in it. Fit a line through all of them."
_MEAN = (
    "It looks as if you worked out p for each run and took the mean. One noisy time of 1 worker is then in all of "
    "them: fit one line through all runs."
)

WRONG_FITS: Sequence[tuple[str, str, Guess]] = (
    ("serial-fraction", "This is the serial fraction, 1 - p.", _serial),
    ("seconds-not-share", _SECONDS, _seconds),
    ("ratio-of-parts", "This is one part divided by the other. p is the parallel part divided by both together.",
     _ratio),
    ("times-not-speedups", "It looks as if you took the times for speedups. They are seconds: the larger, the slower.",
     _as_speedups),
    ("first-is-one-worker", _FIRST, _first_is_one),
    ("against-workers", "Times against s are a curve, and no line fits it. Against 1/s they are a line.",
     _against_workers),
    ("two-points-only", _TWO, _two_points),
    ("mean-of-points", _MEAN, _mean_of_points),
)  # fmt: skip


def _examine(seen: Seen) -> Fault | None:
    answer, case = number_of(seen.returned[0][0]), seen.case
    if answer is None:
        return Fault("wrong-type", f"With {case}: it returns {told(seen.returned[0][0])}; the number p is wanted.")
    p, (s, t) = case.settings["p"], samples(case)
    tolerance = NEAR * (1 - p) if case.settings["kind"] == "noise" else 1e-6
    if math.isclose(answer, p, rel_tol=0, abs_tol=tolerance):
        return None
    begin = f"With {case}: you return {answer:.4g}; the times were made with p = {p:g}. "
    for id, message, guess in WRONG_FITS:
        if any(math.isclose(answer, wrong, rel_tol=1e-6) for wrong in _guesses(guess, s, t)):
            return Fault(id, begin + message)
    return Fault(
        "wrong-values", f"{begin}By Amdahl, t = serial + parallel/s: fit a line through t against 1/s, over all runs."
    )


def _guesses(guess: Guess, s: Numbers, t: Numbers) -> list[float]:
    try:
        return list(guess(s, t))
    except ZeroDivisionError:
        return []


def _judge(observation: Observation) -> list[Finding]:
    return mark(observation, POINTS, _examine)


def _picture(seen: Seen) -> str:
    """The measured points, on the curve of the p that the learner found."""
    from lockstep.show.amdahl_model import Speedups
    from lockstep.show.amdahl_svg import draw

    answer = number_of(seen.returned[0][0]) if seen.returned else None
    if answer is None or not 0 <= answer <= 1:
        return ""
    s, t = samples(seen.case)
    serial, parallel = _against_shares(s, t)
    points = tuple((float(a), (serial + parallel) / b) for a, b in zip(s, t, strict=True))
    return draw(Speedups(answer, 16, points, points_are="the runs", curve_is="your p"))


FIT = Exercise(
    id="why_parallel.fit_parallel_fraction",
    title="Read p off measured times",
    points=POINTS,
    minutes=20,
    parameters="workers, times",
    cases=_cases,
    inputs=_calls,
    judge=_judge,
    reference="lockstep.cost.speedup:fit_parallel_fraction",
    worlds=(1,),
    pure=True,
    picture=_picture,
)
