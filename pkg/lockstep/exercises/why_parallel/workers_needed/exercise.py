"""Choose the number of workers: Amdahl's law the other way round, with a whole number as the answer, or none."""

import random

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import apart, exact
from lockstep.checks.observation import Seen
from lockstep.checks.wording import counted
from lockstep.cost.speedup import amdahl, workers_needed

Call = tuple[float, float, float]  # hours, p, deadline

DRAWN = {"some": "deadlines that can be met", "many": "deadlines that take very many workers",
         "none": "deadlines that nobody can meet", "one": "no hurry"}  # fmt: skip
# Numbers that computers hold exactly: no order of the operations rounds any of them.
EDGES: dict[str, tuple[Call, ...]] = {
    "deadlines that are met exactly": ((8.0, 0.5, 5.0), (8.0, 0.5, 6.0), (16.0, 0.75, 8.0), (32.0, 0.5, 17.0)),
    "a deadline that the serial part fills alone": ((8.0, 0.5, 4.0),),
    "nothing that can be divided (p = 0)": ((8.0, 0.0, 9.0), (8.0, 0.0, 8.0), (8.0, 0.0, 7.0), (10.0, 0.0, 20.0)),
    "nothing that is serial (p = 1)": ((8.0, 1.0, 3.0), (8.0, 1.0, 2.0), (8.0, 1.0, 8.0), (8.0, 1.0, 16.0)),
}
# A search that ends only after millions of workers is slow, not wrong: so few calls have no answer, or a large one.
MANY = (4_000, 15_000, 60_000, 1_200_000)


def cases(ranks: int, seed: int) -> list[Case]:
    drawn = [Case(1, seed, settings={"told": told, "kind": kind}) for kind, told in DRAWN.items()]
    return drawn + [Case(1, seed, settings={"told": told, "kind": "edge", "trivial": True}) for told in EDGES]


def calls(case: Case, rank: int = 0) -> tuple[Call, ...]:
    kind = case.settings["kind"]
    if kind == "edge":
        return EDGES[case.settings["told"]]
    draw = random.Random(case.seed)
    jobs = [(float(draw.randint(20, 2000)), draw.choice((0.6, 0.8, 0.9, 0.95, 0.97, 0.99))) for _ in range(12)]
    if kind == "one":
        return tuple((hours, p, hours * draw.uniform(1.01, 3)) for hours, p in jobs)
    if kind == "none":
        return tuple((hours, p, hours * (1 - p) * draw.uniform(0.1, 0.95)) for hours, p in jobs[:2])
    least = MANY if kind == "many" else (2, 2, 2, 5, 5, 5, 20, 20, 20, 100, 100, 100)
    # The deadline is what so many workers take. It is no whole number: rounding decides nothing.
    workers = [draw.randint(s, 2 * s) + draw.uniform(0.15, 0.85) for s in least]
    return tuple((hours, p, hours * ((1 - p) + p / s)) for (hours, p), s in zip(jobs, workers, strict=False))


def wanted(case: Case) -> list[int | None]:
    return [workers_needed(*call) for call in calls(case)]


def steps(hours: float, p: float, deadline: float) -> str:
    fewest = workers_needed(hours, p, deadline)
    if fewest is None:
        return f"the serial part alone takes {(1 - p) * hours:.6g} hours."
    if fewest == 1:
        return f"one worker takes {hours:g} hours."
    late, early = apart(hours / amdahl(p, fewest - 1), hours / amdahl(p, fewest))
    return f"{counted(fewest - 1, 'worker')} would take {late} hours, and {fewest:,} take {early}."


def none_at_all(seen: Seen) -> Fault | None:
    """None says that no number of workers is enough, where one is."""
    for call, answer, fewest in zip(calls(seen.case), seen.returned[0], wanted(seen.case), strict=True):
        if answer is None and fewest is not None:
            told = "workers_needed({:g}, {:g}, {:.6g})".format(*call)
            message = f"With {seen.case}: {told} gives None: that no number of workers is enough."
            message += f" But {fewest:,} {'is' if fewest == 1 else 'are'}."
            return Fault("wrong-values", message, f"On the way: {steps(*call)}")
    return None


def fractions(seen: Seen) -> list[Fault]:
    """Right numbers of workers that are no integers."""
    odd = [a for a in seen.returned[0] if isinstance(a, float)]
    return [Fault("not-an-integer", f"But {odd[0]} is a float: return an integer, int({odd[0]}).")] if odd else []


EMPTY = "Is there no number in it that is in time? Then none is enough, or your search ends too early."
LONG = "A search that is only long looks the same. When is no number of workers enough? Ask that before you search."
HINTS = (
    (r"ZeroDivisionError", "What you divide by is 0 there. What is the answer, in words? Return it before you divide."),
    (r"list index out of range|empty|StopIteration|index 0 is out of bounds", EMPTY),
    ("crashed:Stuck", LONG),
    ("crashed:TimeLimit", LONG),
)

EXERCISE = Exercise(
    number=5,
    title="Choose the number of workers",
    points=2,
    minutes=15,
    parameters="hours, p, deadline",
    reference="lockstep.cost.speedup:workers_needed",
    cases=cases,
    inputs=calls,
    examine=none_at_all,
    wanted=wanted,
    agrees=exact,
    asked="a whole number, or None,",
    steps=steps,
    economise=fractions,
    values=0.75,
    hints=HINTS,
    worlds=(1,),
    pure=True,
    seconds=10.0,
)
