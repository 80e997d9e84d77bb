"""Choose the number of workers: Amdahl's law the other way round, with a whole number as the answer, or none."""

from collections.abc import Sequence
from random import Random

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


def met(dice: Random, least: Sequence[int]) -> Calls:
    """The deadline is what so many workers take. It is no whole number: rounding decides nothing."""
    workers = [dice.randint(s, 2 * s) + dice.uniform(0.15, 0.85) for s in least]
    return [(hours, p, hours / amdahl(p, s)) for (hours, p), s in zip(jobs(dice, len(least)), workers, strict=True)]


EXERCISE = arithmetic(
    {
        "deadlines that can be met": lambda dice: met(dice, LEAST),
        "deadlines that take very many workers": lambda dice: met(dice, MANY),
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
    agrees=exact,
    asked="a whole number, or None,",
    none="that no number of workers is enough",
    steps=lambda hours, p, deadline: (
        f"the serial part takes {(1 - p) * hours:.6g} of the {deadline:.6g} hours; the parallel part, {p * hours:.6g} "
        "on one worker, has what is left."
    ),
    economise=whole,
    values=0.75,
    seconds=10.0,
)
