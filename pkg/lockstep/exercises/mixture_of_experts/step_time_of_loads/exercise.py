"""The time of a step with given loads: all wait for the rank that has most to send, to receive, or to compute."""

from lockstep.checks.exercise import Feedback, Values
from lockstep.cost.experts import rows
from lockstep.exercises.arithmetic import arithmetic
from lockstep.exercises.mixture_of_experts.drawn_loads import TRIED, Loads


def steps(loads: Loads, row_bytes: int, alpha: float, beta: float, seconds: float) -> str:
    sent, received = ([getattr(r, way) for r in rows(loads)] for way in ("sent", "received"))
    return f"the ranks send {sent} rows, their own ones among them, and receive {received}."


EXERCISE = arithmetic(
    TRIED,
    trivial=("one rank",),
    number=7,
    core=False,
    title="One popular expert",
    points=3,
    minutes=20,
    parameters="loads, row_bytes, alpha, beta, seconds",
    reference="lockstep.experts.functional:step_time_of_loads",
    values=Values(share=1.0),
    feedback=Feedback(answer="seconds, a float,", steps=steps),
)
