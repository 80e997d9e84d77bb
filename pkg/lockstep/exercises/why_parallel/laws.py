"""What the exercises of both laws share: a share p and numbers of workers, and the figure of the learner's speedups."""

from __future__ import annotations

import random

from lockstep.checks.case import Case
from lockstep.checks.numbers import number_of
from lockstep.checks.observation import Seen
from lockstep.show.amdahl_model import Speedups
from lockstep.show.amdahl_svg import draw

WORKERS = (2, 3, 4, 8, 16, 64, 100, 1024)
ENDS = ((0.0, 8), (1.0, 8), (0.5, 1), (0.9, 1))  # nothing to divide, nothing serial, one worker
LARGEST = 1e6  # a speedup that the figure can show


def law_cases(ranks: int, seed: int) -> list[Case]:
    draw = random.Random(seed)
    most, little = (
        draw.choice((0.8575, 0.884, 0.9265, 0.942, 0.9635, 0.981)),
        draw.choice((0.125, 0.1815, 0.2265, 0.3415)),
    )
    return [
        Case(1, seed, settings={"told": "nothing serial, nothing parallel or one worker", "trivial": True}),
        Case(1, seed, settings={"told": f"p = {most}", "p": most}),
        Case(1, seed, settings={"told": f"p = {little}", "p": little}),
    ]


def law_calls(case: Case, rank: int = 0) -> tuple[tuple[float, int], ...]:
    """(p, s): the ends of the law, or a curve of one p."""
    return ENDS if case.trivial else tuple((case.settings["p"], s) for s in WORKERS)


def speedups(seen: Seen) -> str:
    """The learner's speedups as points on the figure of both laws."""
    answers = [number_of(a) for a in seen.returned[0]] if seen.returned else []
    numbers = [a for a in answers if a is not None and 0 < a < LARGEST]
    if seen.case.trivial or len(numbers) < len(WORKERS):
        return ""
    points = tuple(zip(map(float, WORKERS), numbers, strict=True))
    return draw(Speedups(seen.case.settings["p"], 16, points, points_are="your function"))
