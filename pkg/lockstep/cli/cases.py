"""``lockstep cases``: what an exercise is tried on, as a table that a person can review."""

from __future__ import annotations

import argparse

from lockstep.checks import find
from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.seeds import seed


def cases(args: argparse.Namespace) -> int:
    exercise = find(args.exercise)
    print(f"{exercise.id}: {exercise.signature}")
    for case in listed(exercise):
        print(f"  {case}{'  (earns nothing by itself)' if case.trivial else ''}")
        settings = {key: value for key, value in case.settings.items() if key not in ("told", "trivial")}
        if settings:
            print("      " + ", ".join(f"{key}={value!r}" for key, value in settings.items()))
    return 0


def listed(exercise: Exercise) -> list[Case]:
    """The cases of all world sizes, as they are drawn here and now."""
    return [case for size in exercise.worlds for case in exercise.cases(size, seed(exercise.id, size))]
