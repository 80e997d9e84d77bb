"""From the profile of a training loop: what it loses, and how much of its time each cure would give back."""

from typing import Any

from lockstep.bottlenecks.profiles import CAUSES, costs
from lockstep.checks.exercise import Feedback, Run, Values
from lockstep.checks.numbers import number_of
from lockstep.exercises.arithmetic import arithmetic
from lockstep.exercises.bottlenecks.drawn_profiles import TRIED
from lockstep.experiments.bottlenecks.recorded_profiles import Row

NEAR = 0.005  # of a share


def agrees(answer: Any, want: tuple[float, ...]) -> bool:
    """Each share is off by half a percent at most, and 0 where it should be."""
    shares = [number_of(share) for share in answer]
    return all(a is not None and abs(a - w) <= NEAR and (a == 0) == (w == 0) for a, w in zip(shares, want, strict=True))


def steps(spans: list[Row], call_cost: float) -> str:
    told = ", ".join(f"{cause} {100 * share:.1f} %" for cause, share in costs(spans, call_cost).items())
    return f"without each cause the steps would be shorter by: {told}."


EXERCISE = arithmetic(
    TRIED,
    number=1,
    title="Name the bottleneck",
    points=5,
    minutes=30,
    parameters="spans, call_cost",
    reference="lockstep.bottlenecks:name_the_bottleneck",
    values=Values(share=1.0, agrees=agrees),
    run=Run(timeout=10.0),
    feedback=Feedback(answer=f"a tuple of four shares, of {', '.join(CAUSES)},", steps=steps),
)
