"""Amdahl's law: the same work, with more workers."""

from lockstep.cost.speedup import amdahl
from lockstep.exercises.why_parallel.laws import law

EXERCISE = law(
    number=1,
    title="Amdahl's law",
    points=1,
    minutes=10,
    reference="lockstep.cost.speedup:amdahl",
    steps=lambda p, s: f"where one worker needs the time 1, {s} need {1 / amdahl(p, s):.4g}.",
)
