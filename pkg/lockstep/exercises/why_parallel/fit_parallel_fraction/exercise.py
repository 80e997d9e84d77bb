"""Read p off measured times: a line of least squares, over all runs alike."""

from collections.abc import Callable, Sequence
from random import Random

from lockstep.checks.exercise import Feedback, Run, Values
from lockstep.checks.numbers import number_of, within
from lockstep.checks.observation import Seen
from lockstep.cost.speedup import amdahl, fit_parallel_fraction
from lockstep.exercises.arithmetic import Calls, Tried, arithmetic, drawn
from lockstep.show.amdahl import Speedups, draw

Runs = tuple[list[int], list[float]]  # workers, and the seconds of each run

SHARES = (0.8174, 0.8436, 0.8627, 0.8893, 0.9163, 0.9307)  # none of them halfway between two roundings


def programs(*workers: int, noise: float = 0.0, late: float = 1.0) -> Callable[[Random], Calls]:
    return lambda dice: [measured(dice, workers, p, noise, late) for p in dice.sample(SHARES, 3)]


def measured(dice: Random, workers: Sequence[int], p: float, noise: float, late: float) -> Runs:
    """The runs of a program in any order, of each number of workers another number of them. One with the most takes
    ``late`` times as long."""
    runs = [s for s, times in zip(workers, dice.sample(range(1, 7), len(workers)), strict=True) for _ in range(times)]
    dice.shuffle(runs)
    while runs[0] == runs[-1]:  # these two alone would tell nothing
        dice.shuffle(runs)
    seconds = dice.uniform(6, 14)
    times = [seconds / amdahl(p, s) * (1 + dice.uniform(-noise, noise)) for s in runs]
    times[runs.index(max(runs))] *= late
    return runs, times


TRIED: Tried = {
    "times that follow Amdahl's law exactly": programs(1, 2, 4, 8, 16),
    "exact times, none of them of 1 worker": programs(2, 3, 8, 16),
    "noisy times, some workers measured more often than others, in any order": programs(1, 3, 4, 5, 6, 16, noise=0.2),
    "times that follow Amdahl's law, but for one run that was slow": programs(1, 2, 3, 4, 8, late=1.7),
    "noisy times of 8 to 12 workers": programs(8, 9, 10, 12, noise=0.06),
}


def line(workers: list[int], times: list[float]) -> tuple[float, float]:
    """The seconds a and b of t = a + b/s."""
    p = fit_parallel_fraction(workers, times)
    of_one = sum(times) / sum(1 / amdahl(p, s) for s in workers)
    return (1 - p) * of_one, p * of_one


def picture(seen: Seen) -> str:
    """The runs of the first program, on the curve of the p that the learner found."""
    p = number_of(seen.returned[0][0]) if seen.returned else None
    if p is None or not 0 <= p <= 1:
        return ""
    workers, times = drawn(TRIED, seen.case)[0]
    points = tuple((float(s), sum(line(workers, times)) / t) for s, t in zip(workers, times, strict=True))
    return draw(Speedups(p, 16, points, points_are="the runs", curve_is="your p"))


EXERCISE = arithmetic(
    TRIED,
    number=2,
    title="Read p off measured times",
    points=3,
    minutes=20,
    parameters="workers, times",
    reference="lockstep.cost.speedup:fit_parallel_fraction",
    values=Values(
        agrees=within(1e-4),  # single precision is enough
    ),
    run=Run(
        timeout=10.0,  # importing sklearn, which has a line of its own, can take five of them on a busy machine
    ),
    feedback=Feedback(
        answer="p, a float,",
        steps=lambda *runs: "a = {:.4g} and b = {:.4g} seconds.".format(*line(*runs)),
        picture=picture,
    ),
)
