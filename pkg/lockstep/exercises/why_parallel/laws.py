"""What the exercises of both laws share: a share p and numbers of workers, and the figure of the learner's speedups."""

from collections.abc import Callable
from random import Random
from typing import Any

from lockstep.checks.default_judge import row
from lockstep.checks.exercise import Exercise
from lockstep.checks.observation import Seen
from lockstep.exercises.arithmetic import Calls, Tried, arithmetic, drawn
from lockstep.show.amdahl_model import Speedups
from lockstep.show.amdahl_svg import draw

WORKERS = (2, 3, 4, 8, 16, 64, 100, 1024)
LARGEST = 1e6  # a speedup that the figure can show
ENDS = "nothing serial, nothing parallel or one worker"


def curve(*shares: float) -> Callable[[Random], Calls]:
    """Many numbers of workers, and one of these shares."""
    return lambda dice: [(p, s) for p in [dice.choice(shares)] for s in WORKERS]


TRIED: Tried = {
    ENDS: ((0.0, 8), (1.0, 8), (0.5, 1), (0.9, 1)),
    "a large p": curve(0.8575, 0.884, 0.9265, 0.942, 0.9635, 0.981),
    "a small p": curve(0.125, 0.1815, 0.2265, 0.3415),
}


def law(**asked: Any) -> Exercise:
    return arithmetic(TRIED, {ENDS}, parameters="p, s", asked="the speedup, a float,", picture=speedups, **asked)


def speedups(seen: Seen) -> str:
    """The learner's speedups as points on the figure of both laws."""
    numbers = row(seen.returned[0]) if seen.returned else []
    if seen.case.trivial or len(numbers) < len(WORKERS) or not all(0 < number < LARGEST for number in numbers):
        return ""
    points = tuple(zip(map(float, WORKERS), numbers, strict=True))
    return draw(Speedups(drawn(TRIED, seen.case)[0][0], 16, points, points_are="your function"))
