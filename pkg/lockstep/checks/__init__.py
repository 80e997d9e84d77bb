"""Checks: is this function right, does it cost what it should, and if not, what did its author think?

    check("communication.ring_all_reduce", my_function)       in a notebook: points and feedback
    check_file("communication.ring_all_reduce", "ring.py")    the same for a function in a .py or .ipynb file
    check_all()                                               the course's own references

The names are loaded when they are first used: every rank imports ``lockstep.checks.rank_program``, and nothing else of
this.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lockstep.checks.exercise import Exercise as Exercise
    from lockstep.checks.exercise import exercises as exercises
    from lockstep.checks.judge import Finding as Finding
    from lockstep.checks.observe import Ungraded as Ungraded
    from lockstep.checks.register import find as find
    from lockstep.checks.score import Score as Score
    from lockstep.checks.verdict import check as check
    from lockstep.checks.verdict import check_all as check_all
    from lockstep.checks.verdict import check_file as check_file
    from lockstep.checks.verdict import check_reference as check_reference
    from lockstep.checks.verdict import score_of as score_of

_HOME = {
    **dict.fromkeys(("check", "check_all", "check_file", "check_reference", "score_of"), "verdict"),
    **dict.fromkeys(("Exercise", "exercises"), "exercise"),
    "find": "register",
    "Finding": "judge",
    "Ungraded": "observe",
    "Score": "score",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
