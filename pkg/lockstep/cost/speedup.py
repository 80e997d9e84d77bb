"""The speedup of more workers: the laws of Amdahl and Gustafson, and the parallel fraction fitted to measurements.

    p       the parallel fraction: the share of the time that can be divided among workers, from 0 to 1
    1 - p   the serial fraction: what one worker does while all others wait
    s       workers
    S       speedup: the time of one worker, divided by the time of s workers

    Amdahl      the same work, with more workers       S = 1 / ((1-p) + p/s)      never more than 1/(1-p)
    Gustafson   the same time, with more work          S = (1-p) + p·s            grows for ever

Amdahl's p is a share of the time on *one* worker. Gustafson's p is a share of the time on *s* workers, each as busy as
the one was before. So one program has two values of p, and both laws, each with its own p, give the same speedup:
``parallel_fraction_alone`` converts Gustafson's p into Amdahl's.

Many texts write N for the workers and s for the serial fraction. Here s counts workers.

Sources: Amdahl, "Validity of the single processor approach to achieving large scale computing capabilities", AFIPS
1967; Gustafson, "Reevaluating Amdahl's law", CACM 1988; Karp, Flatt, "Measuring parallel processor performance", CACM
1990 (the serial fraction from measurements).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from lockstep.errors import UsageError

ROUNDING = 1e-14  # of one worker's hours: a deadline missed by less counts as met, since that is rounding


def amdahl(p: float, s: float) -> float:
    """Amdahl's law: the speedup of s workers on fixed work, when the share p of one worker's time can be divided."""
    _check(p, s)
    return 1 / ((1 - p) + p / s)


def gustafson(p: float, s: float) -> float:
    """Gustafson's law: the speedup of s workers on work that grows with s, when they spend the share p of their time in
    parallel."""
    _check(p, s)
    return (1 - p) + p * s


def most_speedup(p: float) -> float:
    """Amdahl's limit, 1/(1-p): the speedup of infinitely many workers. Infinite where nothing is serial."""
    _check(p, 1)
    return 1 / (1 - p) if p < 1 else math.inf


def parallel_fraction_alone(p: float, s: float) -> float:
    """Amdahl's p of a program whose Gustafson p on s workers is given: one worker would need (1-p) + p·s."""
    return p * s / gustafson(p, s)


def workers_needed(hours: float, p: float, deadline: float) -> int | None:
    """The fewest workers that finish within ``deadline`` hours what takes one worker ``hours``; None if no number does.

    By Amdahl hours·((1-p) + p/s) must not exceed the deadline, so s is at least p·hours / (deadline - (1-p)·hours).
    A deadline that is met exactly is met. Floats round (100·(1 - 0.95) is 5.000000000000004), and exact fractions would
    not help: the float 0.95 is a little less than 95 %. So the deadline may be missed by 1e-14 of the hours.
    """
    _check(p, 1)
    if min(hours, deadline) <= 0:
        raise UsageError(f"Hours are above 0, not {hours} and {deadline}.")
    if hours <= deadline:
        return 1
    left, rounding = deadline - (1 - p) * hours, ROUNDING * hours  # left is the time for the parallel part
    return math.ceil(p * hours / (left + rounding)) if left > rounding else None


def fit_parallel_fraction(workers: Sequence[float], times: Sequence[float]) -> float:
    """The p with which Amdahl's law fits measured ``times`` best (seconds, one for each entry of ``workers``).

    By Amdahl t = serial + parallel/s, a straight line in 1/s. Least squares give both parts, in seconds, and p is
    parallel / (serial + parallel). No run on one worker is needed, and all runs have the same weight. Neither
    part is ever negative: times that fall faster than 1/s give p = 1.

    Raises UsageError unless there are two different numbers of workers, each with a time above zero.
    """
    _check_measurements(workers, times)
    shares = [1 / s for s in workers]
    middle, level = sum(shares) / len(shares), sum(times) / len(times)
    spread = sum((x - middle) ** 2 for x in shares)
    parallel = sum((x - middle) * (t - level) for x, t in zip(shares, times, strict=True)) / spread
    serial = level - parallel * middle
    return min(1.0, max(0.0, parallel / (serial + parallel))) if serial + parallel > 0 else 1.0


def _check(p: float, s: float) -> None:
    if not 0 <= p <= 1:
        raise UsageError(f"The parallel fraction is a share from 0 to 1, not {p}.", "Write 0.95 for 95 %.")
    if not 1 <= s < math.inf:
        raise UsageError(f"There must be at least 1 worker, not {s}.")


def _check_measurements(workers: Sequence[float], times: Sequence[float]) -> None:
    if len(workers) != len(times):
        raise UsageError(
            f"There are {len(workers)} numbers of workers but {len(times)} times.", "Give a time for each."
        )
    if not all(1 <= s < math.inf for s in workers) or not all(0 < t < math.inf for t in times):
        raise UsageError("Each run needs at least 1 worker, and a time above 0 seconds.", "Measure such runs again.")
    if len(set(workers)) < 2:
        raise UsageError("One number of workers tells nothing about p.", "Measure at least two.")
