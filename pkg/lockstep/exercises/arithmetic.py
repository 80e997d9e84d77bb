"""Exercises whose answer is arithmetic: what a function gives for plain arguments, drawn anew for each check, beside
what the course's own answer gives for them."""

import copy
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Rule, first
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.rank_program import returned

Calls = Sequence[tuple[Any, ...]]  # the arguments of each
Tried = Mapping[str, Calls | Callable[[Random], Calls]]  # what is told of them -> the calls, or who draws them

CHANGED = Rule("changes-arguments", bool, "It changes its argument {changed}. Leave it as it was.", telling=True)


def arithmetic(
    tried: Tried, trivial: Collection[str] = (), right: Callable[..., Any] | None = None, **asked: Any
) -> Exercise:
    """An exercise with a case for each of ``tried``; ``trivial`` names those that are too easy to earn points.
    ``right`` gives the answer to a call, where it is not what the reference gives. With ``kept``, a call whose
    arguments are dicts, or lists of numbers or of lists, leaves them as they were."""
    if asked.get("kept"):
        own, names = asked.get("examine", lambda seen: None), asked["parameters"].split(", ")
        asked |= {"watch": partial(keeping, names), "examine": lambda seen: changed(seen) or own(seen)}
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


def keeping(names: Sequence[str], fn: Callable[..., Any], call: tuple[Any, ...]) -> Any:
    """What it gives; of a call that changes an argument a dict with its name and the value."""
    own = copy.deepcopy(call)
    answer = returned(fn, own)
    spoilt = (name for name, after, before in zip(names, own, call, strict=True) if after != before)
    return next(({"changed": name, "value": answer} for name in spoilt), answer)


def changed(seen: Seen) -> Fault | None:
    return first([CHANGED], *(found for found in seen.returned[0] if isinstance(found, dict)))


def whole(seen: Seen) -> list[Fault]:
    """The cost of an answer that is a right number, and a float where a whole number is asked for."""
    return [
        Fault("not-an-integer", f"But {a} is a float: return an integer, int({a}).")
        for a in seen.returned[0]
        if isinstance(a, float)
    ]
