"""Staleness, read off a trace: of a parameter server's runs, drawn anew."""

from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import Any

from lockstep.checks.plain import plain
from lockstep.exercises.arithmetic import Calls, arithmetic
from lockstep.exercises.without_waiting.server_traces import traces
from lockstep.without_waiting.staleness import staleness_of

TRIED: Mapping[str, Mapping[str, Any]] = {
    "workers of about one speed": {},
    "a slow worker": {"slow": 5.0},
    "a slow worker and bound=1": {"slow": 5.0, "bound": 1},
    "workers in lockstep": {"bound": 0},
    "one worker": {"workers": (1,)},
}


def calls(of: Mapping[str, Any], dice: Random) -> Calls:
    return [(trace,) for trace in traces(dice, **of)]


def histogram(fn: Callable[..., Any], call: tuple[Any, ...]) -> Any:
    """As in "{0: 3, 2: 1}", in the order of its keys; what is no dict of numbers as it is."""
    found = fn(*call)
    try:
        rows = sorted((float(staleness), float(number)) for staleness, number in found.items() if number)
        return f"{{{', '.join(f'{staleness:g}: {number:g}' for staleness, number in rows)}}}"
    except (AttributeError, TypeError, ValueError):
        return plain(found)


EXERCISE = arithmetic(
    {told: partial(calls, of) for told, of in TRIED.items()},
    trivial=("one worker",),
    number=6, core=False, title="How stale?", points=3, minutes=20, values=1.0,
    parameters="trace", asked="a dict {staleness: number of gradients}",
    reference="lockstep.without_waiting.staleness:staleness_of",
    right=lambda trace: histogram(staleness_of, (trace,)), watch=histogram,
)  # fmt: skip
