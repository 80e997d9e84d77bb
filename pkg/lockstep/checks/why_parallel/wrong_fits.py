"""Wrong ways to read p off measured times. Each is known by what it would answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from statistics import median

Numbers = Sequence[float]
Guess = Callable[[Numbers, Numbers], Iterator[float]]  # what a misconception might answer, from workers and times


def line(x: Numbers, y: Numbers) -> tuple[float, float]:
    """(where it meets the axis, slope) of the straight line with the least squares."""
    middle, level = sum(x) / len(x), sum(y) / len(y)
    slope = sum((a - middle) * (b - level) for a, b in zip(x, y, strict=True)) / sum((a - middle) ** 2 for a in x)
    return level - slope * middle, slope


def against_shares(s: Numbers, t: Numbers) -> tuple[float, float]:
    """(serial, parallel) seconds: the right line, through t against 1/s."""
    return line([1 / a for a in s], t)


def right(s: Numbers, t: Numbers) -> float:
    serial, parallel = against_shares(s, t)
    return parallel / (serial + parallel)


def _serial(s: Numbers, t: Numbers) -> Iterator[float]:
    yield 1 - right(s, t)


def _seconds(s: Numbers, t: Numbers) -> Iterator[float]:
    yield from against_shares(s, t)


def _ratio(s: Numbers, t: Numbers) -> Iterator[float]:
    serial, parallel = against_shares(s, t)
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
    """Any two runs of different numbers of workers."""
    for (a, x), (b, y) in combinations(zip(s, t, strict=True), 2):
        if a != b:
            parallel = (x - y) / (1 / a - 1 / b)
            yield parallel / (x - parallel / a + parallel)


def _one_of_each(s: Numbers, t: Numbers) -> Iterator[float]:
    """One time of each number of workers, and the right line through these."""
    of = {a: [b for c, b in zip(s, t, strict=True) if c == a] for a in s}
    for choose in (min, max, median, lambda times: times[0], lambda times: times[-1]):
        yield right(list(of), [choose(times) for times in of.values()])


def _torn(s: Numbers, t: Numbers) -> Iterator[float]:
    """Each list sorted for itself."""
    yield right(sorted(s), sorted(t, reverse=True))
    yield right(sorted(s), sorted(t))
    yield right(sorted(s), t)


def _not_converted(s: Numbers, t: Numbers) -> Iterator[float]:
    """numpy's Polynomial.fit has coefficients for shares that are mapped to -1 .. 1, until convert() is called."""
    serial, parallel = against_shares(s, t)
    low, high = 1 / max(s), 1 / min(s)
    middle, slope = serial + parallel * (low + high) / 2, parallel * (high - low) / 2
    yield from (slope / (middle + slope), middle / (middle + slope))


def _saved(s: Numbers, t: Numbers) -> Iterator[float]:
    """The share of the time that many workers save, against few."""
    yield from (1 - min(t) / max(t), 1 - t[-1] / t[0])


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
_SWAPPED = (
    "This is the serial fraction, 1 - p. Is your slope where the other number should be? np.polyfit gives the slope "
    "first."
)
_SECONDS = (
    "Your line is right, but you return seconds. p is the parallel seconds divided by all: slope / (start + slope)."
)
_TWO = "It looks as if two runs decided alone, and their noise is in it. Fit a line through all of them."
_EACH = (
    "It looks as if you kept one time of each number of workers: the best, the median, the first or the last. The "
    "other runs are measurements as well. Fit the line through all of them, or through means."
)
_TORN = (
    "It looks as if you sorted the lists one by one: then a time no longer stands beside its number of workers. Sort "
    "pairs, sorted(zip(workers, times)), or do not sort: a line needs no order."
)
_CONVERT = (
    "These are coefficients of Polynomial.fit as they are: for shares mapped to -1 .. 1. Call .convert() first, or "
    "take np.polyfit."
)
_MEAN = (
    "It looks as if you worked out p for each run and took the mean. One noisy time of 1 worker is then in all of "
    "them: fit one line through all runs."
)

_SAVED = (
    "This is the share of the time that the most workers save, 1 - shortest / longest. p is what could be saved at "
    "best, with endlessly many workers."
)

WRONG_FITS: Sequence[tuple[str, str, Guess]] = (
    ("serial-fraction", _SWAPPED, _serial),
    ("seconds-not-share", _SECONDS, _seconds),
    ("ratio-of-parts", "This is one part divided by the other. p is the parallel part divided by both together.",
     _ratio),
    ("times-not-speedups", "It looks as if you took the times for speedups. They are seconds: the larger, the slower.",
     _as_speedups),
    ("first-is-one-worker", _FIRST, _first_is_one),
    ("against-workers", "Times against s are a curve, and no line fits it. Against 1/s they are a line.",
     _against_workers),
    ("one-run-of-each", _EACH, _one_of_each),
    ("torn-pairs", _TORN, _torn),
    ("not-converted", _CONVERT, _not_converted),
    ("time-saved", _SAVED, _saved),
    ("two-points-only", _TWO, _two_points),
    ("mean-of-points", _MEAN, _mean_of_points),
)  # fmt: skip


def recognised(answer: float, s: Numbers, t: Numbers) -> tuple[str, str] | None:
    """The misconception that would answer this, and what to tell about it."""
    for id, message, guess in WRONG_FITS:
        if any(math.isclose(answer, wrong, rel_tol=1e-6) for wrong in _guesses(guess, s, t)):
            return id, message
    return None


def _guesses(guess: Guess, s: Numbers, t: Numbers) -> list[float]:
    try:
        return list(guess(s, t))
    except ZeroDivisionError:
        return []
