"""Lockstep: an interactive teaching lab for parallel machine learning.

``run`` a function on many ranks, ``check`` an exercise, ``show`` figures, ``predict`` a number and ``reconcile`` it
with what was simulated and measured; in a lesson, take ``your_turn`` and answer a ``quiz``.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from lockstep import moved

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
    """Load torch and the figures when they are first used: ``import lockstep`` takes no time."""
    if name not in _HOME:
        raise AttributeError(f"module 'lockstep' has no attribute {name!r}")
    home = _HOME[name]
    module = importlib.import_module(f"lockstep.{home}")
    value = module if name == home else getattr(module, name)
    globals()[name] = value
    if name in _STARTS_RANKS and "ipykernel" in sys.modules:
        importlib.import_module("lockstep.notebook").begin()
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
