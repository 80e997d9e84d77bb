"""The check of the sample course: a number for nbgrader, a finding for the learner, secret inputs under autograde."""

import os
import random
from dataclasses import dataclass

POINTS = {"sample.total": 6, "sample.mend_total": 4}
FINDING = "A negative number makes the sum smaller."


@dataclass(frozen=True)
class Score:
    points: float
    finding: str

    def __repr__(self) -> str:
        return f"{self.points:g}"

    def _repr_html_(self) -> str:
        return f"<b>{self.finding}</b>"


def lists() -> list[list[int]]:
    """Two lists to add up: one of positive numbers, one with negative ones."""
    draw = random.Random("secret" if os.environ.get("NBGRADER_EXECUTION") == "autograde" else "published")
    positive = [draw.randrange(1, 1000) for _ in range(5)]
    return [positive, [-n for n in positive]]


def check(exercise: str, fn) -> Score:
    try:
        right = [fn(numbers) == sum(numbers) for numbers in lists()]
    except Exception as error:
        return Score(0, f"It raised {error!r}.")
    return Score(POINTS[exercise] * sum(right) / len(right), "" if all(right) else FINDING)
