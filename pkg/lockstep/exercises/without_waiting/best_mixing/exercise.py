"""The largest spectral gap with few links: a valid matrix earns its gap's share of that of the best circulant one."""

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.exercises.without_waiting.gaps import alike, shortcoming

TRIED = (
    (8, 3),
    (9, 4),
    (6, 3),
    (7, 3),
    (5, 2),
    (12, 4),
    (16, 5),
    (32, 4),
    (10, 9),
    (3, 8),
    (2, 1),
    (1, 2),
)  # the plain first


def case(ranks: int, degree: int) -> Case:
    told = f"ranks={ranks} and degree={degree}"
    return Case(1, 0, None, {"told": told, "ranks": ranks, "degree": degree, "trivial": ranks == 1})


def judged(seen: Seen) -> Fault | None:
    return shortcoming(str(seen.case), seen.returned[0][0], seen.case.settings["ranks"], seen.case.settings["degree"])


EXERCISE = Exercise(
    number=8,
    core=False,
    title="The best mixing matrix",
    points=4,
    minutes=25,
    parameters="ranks, degree",
    reference="lockstep.without_waiting.best_mixing:best_mixing",
    cases=lambda worlds, seed: [case(*tried) for tried in TRIED],
    inputs=lambda case, rank: [(case.settings["ranks"], case.settings["degree"])],
    worlds=(1,),
    pure=True,
    values=1.0,
    examine=judged,
    alike=alike,
    asked="a list of lists of numbers",
)
