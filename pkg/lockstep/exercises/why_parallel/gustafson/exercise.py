"""Gustafson's law: the same time, with more work."""

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.cost.speedup import gustafson
from lockstep.exercises.why_parallel.laws import law_calls, law_cases, speedups


def wanted(case: Case) -> list[float]:
    return [gustafson(p, s) for p, s in law_calls(case)]


def steps(p: float, s: int) -> str:
    return f"while all workers are at work, they do what one would need the time {p * s:.4g} for."


EXERCISE = Exercise(
    number=6,
    title="Gustafson's law",
    points=1,
    minutes=10,
    parameters="p, s",
    reference="lockstep.cost.speedup:gustafson",
    core=False,
    cases=law_cases,
    inputs=law_calls,
    wanted=wanted,
    asked="the speedup, a float,",
    steps=steps,
    worlds=(1,),
    pure=True,
    picture=speedups,
)
