"""Gustafson's law: the same time, with more work."""

from lockstep.exercises.why_parallel.laws import law

EXERCISE = law(
    number=6,
    core=False,
    title="Gustafson's law",
    points=1,
    minutes=10,
    reference="lockstep.cost.speedup:gustafson",
    steps=lambda p, s: f"while all workers are at work, they do what one would need the time {p * s:.4g} for.",
)
