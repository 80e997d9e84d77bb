"""Exercises whose answer is arithmetic: a function's results for plain arguments, drawn anew for each check, are
compared with those of the course's own answer."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen

Calls = Sequence[tuple[Any, ...]]  # the arguments of each
Tried = Mapping[str, Calls | Callable[[Random], Calls]]  # the case's name -> its calls, or a function that draws them


def arithmetic(
    tried: Tried, *, trivial: Collection[str] = (), right: Callable[..., Any] | None = None, **fields: Any
) -> Exercise:
    """An exercise with a case for each of ``tried``; ``trivial`` names those that are too easy to earn points.
    ``right`` gives the answer to a call, where it is not what the reference gives."""
    exercise = Exercise(
        cases=lambda ranks, seed: [Case(1, seed, None, {"told": t, "trivial": t in trivial}) for t in tried],
        inputs=lambda case, rank: drawn(tried, case),
        worlds=(1,),
        pure=True,
        **fields,
    )

    def wanted(case: Case) -> list[Any]:
        answer = right or exercise.reference_function()
        return [answer(*call) for call in drawn(tried, case)]

    return replace(exercise, values=replace(exercise.values, wanted=wanted))


def drawn(tried: Tried, case: Case) -> tuple[tuple[Any, ...], ...]:
    """The calls of a case, the same for the same seed."""
    calls = tried[case.settings["told"]]
    return tuple(calls(Random(case.seed)) if callable(calls) else calls)


def whole(seen: Seen) -> list[Fault]:
    """The cost of an answer that is a right number, and a float where a whole number is asked for."""
    return [
        Fault("not-an-integer", f"But {a} is a float: return an integer, int({a}).")
        for a in seen.returned[0]
        if isinstance(a, float)
    ]
