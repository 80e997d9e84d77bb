"""Choose the number of workers: Amdahl's law the other way round, with a whole number as the answer, or none."""

from collections.abc import Sequence
from itertools import cycle
from random import Random

from lockstep.checks.exercise import Costs, Feedback, Run, Values
from lockstep.checks.numbers import exact
from lockstep.cost.speedup import amdahl
from lockstep.exercises.arithmetic import Calls, Tried, arithmetic, whole

LEAST = (2, 2, 2, 5, 5, 5, 20, 20, 20, 100, 100, 100)  # workers; twice as many at most
MANY = (4_000, 15_000, 60_000, 1_200_000)  # few: a search that ends only after millions is slow, not wrong
# Numbers that computers hold exactly: no order of the operations rounds any of them.
EDGES: Tried = {
    "deadlines that are met exactly": ((8.0, 0.5, 5.0), (8.0, 0.5, 6.0), (16.0, 0.75, 8.0), (32.0, 0.5, 17.0)),
    "a deadline that the serial part fills alone": ((8.0, 0.5, 4.0),),
    "nothing that can be divided (p = 0)": ((8.0, 0.0, 9.0), (8.0, 0.0, 8.0), (8.0, 0.0, 7.0), (10.0, 0.0, 20.0)),
    "nothing that is serial (p = 1)": ((8.0, 1.0, 3.0), (8.0, 1.0, 2.0), (8.0, 1.0, 8.0), (8.0, 1.0, 16.0)),
}


def jobs(dice: Random, number: int = 12) -> list[tuple[float, float]]:
    return [(float(dice.randint(20, 2000)), dice.choice((0.6, 0.8, 0.9, 0.95, 0.97, 0.99))) for _ in range(number)]


def met(dice: Random, least: Sequence[int], parts: Sequence[float]) -> Calls:
    """The deadline is what so many workers take. It is no whole number, and far from one for floats: rounding decides
    nothing."""
    workers = [dice.randint(s, 2 * s) + part for s, part in zip(least, cycle(parts), strict=False)]
    return [(hours, p, hours / amdahl(p, s)) for (hours, p), s in zip(jobs(dice, len(least)), workers, strict=True)]


EXERCISE = arithmetic(
    {
        "deadlines that can be met": lambda dice: met(dice, LEAST, (0.004, 0.4, 0.996)),
        "deadlines that take very many workers": lambda dice: met(dice, MANY, (0.2, 0.8)),
        "deadlines that nobody can meet": lambda dice: [
            (hours, p, hours * (1 - p) * dice.uniform(0.1, 0.95)) for hours, p in jobs(dice, 2)
        ],
        "no hurry": lambda dice: [(hours, p, hours * dice.uniform(1.01, 3)) for hours, p in jobs(dice)],
        **EDGES,
    },
    trivial=EDGES,
    number=5,
    title="Choose the number of workers",
    points=2,
    minutes=15,
    parameters="hours, p, deadline",
    reference="lockstep.cost.speedup:workers_needed",
    values=Values(agrees=exact, share=0.75),
    costs=Costs(economise=whole),
    run=Run(timeout=10.0),
    feedback=Feedback(
        answer="a whole number, or None,",
        none_means="that no number of workers is enough",
        steps=lambda hours, p, deadline: (
            f"the serial part takes {(1 - p) * hours:.6g} hours, the parallel part {p * hours:.6g} on one worker; the "
            f"deadline is {deadline:.6g}."
        ),
    ),
)
