"""Lockstep: an interactive teaching lab for parallel machine learning.

``run`` a function on many ranks, ``check`` an exercise, ``show`` figures, ``predict`` a number and ``reconcile`` it
with what was simulated and measured.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lockstep import show as show
    from lockstep.checks import check as check
    from lockstep.show.predict import predict as predict
    from lockstep.show.reconcile import reconcile as reconcile
    from lockstep.worlds import run as run

_HOME = {"run": "worlds", "check": "checks", "show": "show", "predict": "show", "reconcile": "show"}

__all__ = ["check", "predict", "reconcile", "run", "show"]


def __getattr__(name: str) -> Any:
    """Load torch and the figures when they are first used: ``import lockstep`` takes no time."""
    if name not in _HOME:
        raise AttributeError(f"module 'lockstep' has no attribute {name!r}")
    module = importlib.import_module(f"lockstep.{_HOME[name]}")
    value = module if name == "show" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
