"""Amdahl's law: the same work, with more workers."""

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.cost.speedup import amdahl
from lockstep.exercises.why_parallel.laws import law_calls, law_cases, speedups


def wanted(case: Case) -> list[float]:
    return [amdahl(p, s) for p, s in law_calls(case)]


def steps(p: float, s: int) -> str:
    return f"where one worker needs the time 1, {s} need {1 / amdahl(p, s):.4g}."


EXERCISE = Exercise(
    number=1,
    title="Amdahl's law",
    points=1,
    minutes=10,
    parameters="p, s",
    reference="lockstep.cost.speedup:amdahl",
    cases=law_cases,
    inputs=law_calls,
    wanted=wanted,
    asked="the speedup, a float,",
    steps=steps,
    worlds=(1,),
    pure=True,
    picture=speedups,
)
