"""Choose: the name of the cheapest all-reduce, for many messages, sizes of world and machines."""

import random
from itertools import product
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Comparison, Exercise, Feedback, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.cost.fit import choices, crossings

MACHINES = ((50e-6, 1e-9), (3e-6, 4e-12), (1e-3, 1e-8), (1e-7, 1e-9))  # alpha and beta
RANKS = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 48, 64, 100, 1000)
FACTORS = (0.01, 0.3, 0.9, 0.98, 1.02, 1.1, 3.0, 100.0)  # of a size at which two of them are equal


def queries(case: Case, rank: int) -> list[tuple[int, int, float, float]]:
    """Nothing to send, and sizes around each crossing: there an answer shows which terms it has."""
    draw, rows = random.Random(case.seed), []
    for (alpha, beta), K in product(MACHINES, RANKS):
        sizes = [0.0, *(f * n * draw.uniform(0.99, 1.01) for n in crossings(K, alpha, beta).values() for f in FACTORS)]
        rows += [(int(size), K, alpha, beta) for size in sizes]
    return rows


def cheapest(case: Case) -> list[frozenset[str]]:
    """All of the cheapest, for each query."""
    tables = [choices(*query) for query in queries(case, 0)]
    return [frozenset(n for n, s in table.items() if s <= min(table.values()) * (1 + 1e-9)) for table in tables]


def examine(seen: Seen) -> Fault | None:
    """An algorithm that does not exist there is worse than one that takes too long."""
    for (_, K, *_), answer in zip(queries(seen.case, 0), seen.returned[0], strict=True):
        if answer in ("halving_doubling", "recursive_doubling") and K & (K - 1):
            told = f"With {K} ranks you choose {answer!r}, which is for powers of two only."
            return Fault("ignores-power-of-two", told, telling=True)
    return None


def alike(seen: Seen) -> Any:
    """The wrong answers; of two that cost the same either is right."""
    return [None if a in may else a for a, may in zip(seen.returned[0], cheapest(seen.case), strict=True)]


EXERCISE = Exercise(
    number=10,
    core=False,
    title="Choose an algorithm",
    points=3,
    minutes=20,
    parameters="nbytes, ranks, alpha, beta",
    reference="lockstep.cost.fit:choose_algorithm",
    pure=True,
    worlds=(1,),
    cases=lambda ranks, seed: [Case(1, seed, settings={"told": "several machines"})],
    inputs=queries,
    values=Values(wanted=cheapest, examine=examine, full_credit_from=0.9),
    comparison=Comparison(alike=alike),
    feedback=Feedback(
        answer='the name alone, "ring", "tree", "halving_doubling" or "recursive_doubling",',
        steps=lambda *query: ", ".join(f"{name} {s * 1e6:,.1f} µs" for name, s in choices(*query).items()) + ".",
        hints=[
            ("wrong-type", "Of a dict of times, min(times.values()) is the least, min(times, key=times.get) its name.")
        ],
    ),
)
