"""``lockstep cases``: what an exercise is tried on, as a table that a person can review."""

from __future__ import annotations

import argparse

from lockstep.checks import find
from lockstep.checks.calls import told_call
from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.seeds import seed

UNTOLD = ("told", "trivial", "alone", "number")  # of a case's settings


def cases(args: argparse.Namespace) -> int:
    exercise = find(args.exercise)
    print(f"{exercise.id}: {exercise.signature}")
    for case in listed(exercise):
        print(f"  {case}{'  (earns nothing by itself)' if case.trivial else ''}")
        settings = {key: value for key, value in case.settings.items() if key not in UNTOLD}
        if exercise.feedback.call:
            inputs = exercise.inputs(case, 0)
            call = told_call(exercise, tuple(inputs[0] if exercise.pure else inputs))
            more = " ..." if "check" in settings else "" if exercise.pure else " on rank 0"
            print(f"      {call}{more}, line {settings['line']}")
        elif settings:
            print("      " + ", ".join(f"{key}={value!r}" for key, value in settings.items()))
    return 0


def listed(exercise: Exercise) -> list[Case]:
    """The cases of all world sizes, as they are drawn here and now."""
    return [case for size in exercise.worlds for case in exercise.cases(size, seed(exercise.id, size))]
