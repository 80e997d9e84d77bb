"""Staleness, read off a trace: of a parameter server's runs, drawn anew."""

from collections.abc import Mapping
from functools import partial
from random import Random
from typing import Any

from lockstep.checks.exercise import Feedback, Run, Values
from lockstep.exercises.arithmetic import Calls, arithmetic
from lockstep.exercises.without_waiting.server_traces import first_events, histogram, traces
from lockstep.without_waiting.parameter_server import staleness_of

TRIED: Mapping[str, Mapping[str, Any]] = {
    "workers of about one speed": {},
    "a slow worker": {"slow": 5.0},
    "a slow worker and bound=1": {"slow": 5.0, "bound": 1},
    "workers in lockstep": {"bound": 0},
    "workers that get another w before their gradient comes": {"again": 0.3},
    "workers that send two gradients on one w": {"on": 0.4},
    "one worker": {"workers": (1,)},
}
HINTS = [("KeyError: None", 'Not every event has a peer: leave out all but each "send" and "recv".')]


def calls(of: Mapping[str, Any], dice: Random) -> Calls:
    return [(trace,) for trace in traces(dice, **of)]


EXERCISE = arithmetic(
    {told: partial(calls, of) for told, of in TRIED.items()}, trivial=("one worker",), number=6, core=False,
    title="How stale?", points=3, minutes=20, parameters="trace",
    reference="lockstep.without_waiting.parameter_server:staleness_of",
    right=lambda trace: histogram(staleness_of, (trace,)),
    values=Values(share=1.0), run=Run(watch=histogram),
    feedback=Feedback(
        answer="a dict {staleness: number of gradients}, both of them numbers,", steps=first_events, hints=HINTS
    ),
)  # fmt: skip
