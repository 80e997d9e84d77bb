"""Exercises whose answer is arithmetic: what a function gives for plain arguments, drawn anew for each check, beside
what the course's own answer gives for them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen

Calls = Sequence[tuple[Any, ...]]  # the arguments of each
Tried = Mapping[str, Calls | Callable[[Random], Calls]]  # what is told of them -> the calls, or who draws them


def arithmetic(
    tried: Tried, trivial: Collection[str] = (), right: Callable[..., Any] | None = None, **asked: Any
) -> Exercise:
    """An exercise with a case for each of ``tried``; ``trivial`` names those that are too easy to earn points.
    ``right`` gives the answer to a call, where it is not what the reference gives."""
    exercise = Exercise(
        cases=lambda ranks, seed: [Case(1, seed, None, {"told": t, "trivial": t in trivial}) for t in tried],
        inputs=lambda case, rank: drawn(tried, case),
        worlds=(1,),
        pure=True,
        **asked,
    )
    return replace(
        exercise,
        wanted=lambda case: [(right or exercise.reference_function())(*call) for call in drawn(tried, case)],
    )


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
