"""Lockstep: an interactive teaching lab for parallel machine learning.

    run         execute a function on many ranks: processes of this machine, a simulated cluster, or a launcher's ranks
    check       grade an answer to an exercise, with feedback
    show        figures: timelines, traffic, memory, costs
    predict     commit a number before a result is shown
    reconcile   compare that number with the simulated and the measured one
    your_turn   complete a line of a lesson
    quiz        answer a question of a lesson

Each is imported on first use.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from lockstep import distribution, moved, shadows

if TYPE_CHECKING:
    from lockstep import lessons as lessons
    from lockstep import show as show
    from lockstep.checks import check as check
    from lockstep.lessons.predictions import predict as predict
    from lockstep.lessons.predictions import reconcile as reconcile
    from lockstep.lessons.quiz import quiz as quiz
    from lockstep.lessons.turn import your_turn as your_turn
    from lockstep.worlds import run as run

_HOME = {"run": "worlds", "check": "checks", "show": "show", "lessons": "lessons"}
_STARTS_RANKS = ("run", "check")
_HOME |= dict.fromkeys(("predict", "quiz", "reconcile", "your_turn"), "lessons")

__all__ = ["check", "lessons", "predict", "quiz", "reconcile", "run", "show", "your_turn"]

moved.install()


def __getattr__(name: str) -> Any:
    """Import torch and the figures on first use, so that ``import lockstep`` takes no time."""
    if name not in _HOME:
        raise AttributeError(f"module 'lockstep' has no attribute {name!r}")
    home = _HOME[name]
    try:
        module = importlib.import_module(f"lockstep.{home}")
        value = module if name == home else getattr(module, name)
    except (ImportError, AttributeError) as error:  # Python would tell an AttributeError as "cannot import name"
        if file := shadows.shadow_of(error):
            raise ImportError(shadows.advice(file)) from None
        if module_and_extra := distribution.missing(error):
            raise ImportError(distribution.advice(*module_and_extra)) from None
        raise ImportError(f"lockstep.{home} cannot be imported: {type(error).__name__}: {error}") from error
    globals()[name] = value
    if name in _STARTS_RANKS and "ipykernel" in sys.modules:
        importlib.import_module("lockstep.notebook").begin()
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
