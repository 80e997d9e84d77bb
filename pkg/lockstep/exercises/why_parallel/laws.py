"""What the exercises on both laws have in common: a parallel fraction p, numbers of workers, and a figure of the
speedups."""

from collections.abc import Callable
from random import Random
from typing import Any

from lockstep.checks.exercise import Exercise, Feedback
from lockstep.checks.observation import Seen
from lockstep.checks.run_faults import row
from lockstep.exercises.arithmetic import Calls, Tried, arithmetic, drawn
from lockstep.show.amdahl import Speedups, draw

WORKERS = (2, 3, 4, 8, 16, 64, 100, 1024)
LARGEST = 1e6  # a speedup that the figure can show
ENDS = "nothing serial, nothing parallel or one worker"
NEARLY = (
    (1 - 2**-11, 16),
    (1 - 2**-12, 16),
    (2**-12, 10**4),
    (1 - 2**-17, 65_536),
    (1 - 2**-17, 10**6),
    (1 - 2**-17, 10**12),  # nobody counts these one by one
)  # float32 has p


def curve(*shares: float) -> Callable[[Random], Calls]:
    """Many numbers of workers, and one of these shares."""
    return lambda dice: [(p, s) for p in [dice.choice(shares)] for s in WORKERS]


TRIED: Tried = {
    ENDS: ((0.0, 8), (1.0, 8), (0.5, 1), (0.9, 1)),
    "a large p": curve(0.8575, 0.884, 0.9265, 0.942, 0.9635, 0.981),
    "a small p": curve(0.125, 0.1815, 0.2265, 0.3415),
    "a p close to 0 or to 1": NEARLY,
}


def law(steps: Callable[[float, int], str], **fields: Any) -> Exercise:
    """An exercise that asks for the speedup with a parallel fraction p on s workers."""
    feedback = Feedback(answer="the speedup, a float,", steps=steps, picture=speedups)
    return arithmetic(TRIED, trivial={ENDS}, parameters="p, s", feedback=feedback, **fields)


def speedups(seen: Seen) -> str:
    """The learner's speedups as points on the figure of both laws."""
    numbers = row(seen.returned[0]) if seen.returned else []
    if seen.case.trivial or len(numbers) < len(WORKERS) or not all(0 < number < LARGEST for number in numbers):
        return ""
    points = tuple(zip(map(float, WORKERS), numbers, strict=True))
    return draw(Speedups(drawn(TRIED, seen.case)[0][0], 16, points, points_are="your function"))
