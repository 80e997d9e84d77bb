"""Read p off measured times: a line of least squares, over all runs alike."""

import math
import random
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.numbers import number_of
from lockstep.checks.observation import Seen
from lockstep.cost.speedup import fit_parallel_fraction
from lockstep.show.amdahl_model import Speedups
from lockstep.show.amdahl_svg import draw

Runs = tuple[list[int], list[float]]  # workers, and the seconds of each run

PROGRAMS = 3  # in each case
NEAR = 1e-4  # single precision is enough
KINDS = {
    "exact": ("times that follow Amdahl's law exactly", (1, 2, 4, 8, 16)),
    "alone": ("exact times, none of them of 1 worker", (2, 3, 8, 16)),
    "noise": ("noisy times, some workers measured more often than others, in any order", (1, 2, 4, 8, 16)),
    "crowded": ("noisy times of 8 to 12 workers, some of 9 longer than some of 8", (8, 9, 10, 12)),
}


def cases(ranks: int, seed: int) -> list[Case]:
    return [Case(1, seed, settings={"told": told, "kind": kind}) for kind, (told, _) in KINDS.items()]


def calls(case: Case, rank: int = 0) -> tuple[Runs, ...]:
    dice, kind = random.Random(case.seed), case.settings["kind"]
    fractions = dice.sample((0.8175, 0.845, 0.8625, 0.89, 0.915, 0.93), PROGRAMS)
    return tuple(_measured(dice, KINDS[kind][1], p, noisy=kind in ("noise", "crowded")) for p in fractions)


def _measured(dice: random.Random, workers: tuple[int, ...], p: float, noisy: bool) -> Runs:
    """The runs of a program. Of each number of workers, one is far off: too slow with few of them, too fast with many.
    The others make up for most of it. So one run of each tells another p than all, be it the best or the median."""
    seconds, far, rows = dice.uniform(6, 14), dice.uniform(0.12, 0.14), []
    times = [2, 3, 4, 5, 6][: len(workers)] if noisy else [1] * len(workers)
    for place, (s, runs) in enumerate(zip(workers, dice.sample(times, len(times)), strict=True)):
        error = far if 2 * place < len(workers) else -far
        errors = [error, *[-error / (runs - 1) + dice.uniform(-0.02, 0.02) for _ in range(runs - 1)]] if noisy else [0]
        rows += [(s, seconds * ((1 - p) + p / s) * (1 + e)) for e in errors]
    dice.shuffle(rows)
    while rows[0][0] == rows[-1][0]:  # these two alone would tell nothing
        dice.shuffle(rows)
    return [s for s, _ in rows], [t for _, t in rows]


def wanted(case: Case) -> list[float]:
    return [fit_parallel_fraction(*runs) for runs in calls(case)]


def near(answer: Any, p: float) -> bool:
    number = number_of(answer)
    return number is not None and math.isclose(number, p, rel_tol=0, abs_tol=NEAR)


def in_all(workers: list[int], times: list[float]) -> float:
    """a + b: the seconds of one worker, on the line."""
    p = fit_parallel_fraction(workers, times)
    return sum(times) / sum((1 - p) + p / s for s in workers)


def steps(workers: list[int], times: list[float]) -> str:
    p, seconds = fit_parallel_fraction(workers, times), in_all(workers, times)
    return f"a = {(1 - p) * seconds:.4g} and b = {p * seconds:.4g} seconds."


def picture(seen: Seen) -> str:
    """The runs of the first program, on the curve of the p that the learner found."""
    p = number_of(seen.returned[0][0]) if seen.returned else None
    if p is None or not 0 <= p <= 1:
        return ""
    workers, times = calls(seen.case)[0]
    points = tuple((float(s), in_all(workers, times) / t) for s, t in zip(workers, times, strict=True))
    return draw(Speedups(p, 16, points, points_are="the runs", curve_is="your p"))


HINTS = (
    (r"'(int|float|list)' and '(list|int|float)'|negative integer powers|multiply sequence", "Python's lists do not "
     "calculate: np.array(workers, dtype=float) makes an array of numbers, and 1 / array takes each of them."),
    (r"too many values to unpack[^\n]*\n(.|\n)*lstsq|lstsq(.|\n)*too many values", "np.linalg.lstsq gives back four "
     "things, of which the solution is the first: (a, b), *rest = np.linalg.lstsq(...)."),
)  # fmt: skip

EXERCISE = Exercise(
    number=2,
    title="Read p off measured times",
    points=3,
    minutes=20,
    parameters="workers, times",
    reference="lockstep.cost.speedup:fit_parallel_fraction",
    cases=cases,
    inputs=calls,
    wanted=wanted,
    agrees=near,
    asked="p, a float,",
    steps=steps,
    hints=HINTS,
    worlds=(1,),
    pure=True,
    seconds=10.0,  # importing sklearn, which has a line of its own, can take five of them on a busy machine
    picture=picture,
)
