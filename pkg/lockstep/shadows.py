"""A learner's file with the name of another module: ``random.py`` or ``torch.py`` beside a notebook.

Python looks beside the notebook or the script first. So whoever imports ``random``, even Python's own library, gets the
learner's file, and the error that follows names anything but that.
"""

from __future__ import annotations

import os
import sys
import traceback
from importlib.machinery import PathFinder


def shadow_of(error: BaseException) -> str:
    """The path of the file that was imported in place of a module that ``error`` is about; "" if there is none."""
    for name in _names(error):
        first = PathFinder.find_spec(name, _beside())
        if first and first.origin and PathFinder.find_spec(name, _elsewhere()):
            return first.origin
    return ""


def advice(file: str) -> str:
    """What to do about it."""
    name = os.path.basename(file.removesuffix("/__init__.py")).removesuffix(".py")
    return (
        f"{file} has the name of another module, {name}, and Python imports it in its place.\n"
        "Unless that is meant, give your file another name."
    )


def _names(error: BaseException) -> list[str]:
    """The top-level modules that ``error`` may be about: what was not found, in what something was not found, and what
    was being imported."""
    if not isinstance(error, ImportError | AttributeError):
        return []
    found = [str(error.name or ""), str(getattr(getattr(error, "obj", None), "__name__", "")), *_imported(error)]
    return [name for path in found if (name := path.partition(".")[0])]


def _imported(error: BaseException) -> list[str]:
    """The modules whose own code was being run, innermost first."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__) if frame.f_code.co_name == "<module>"]
    return [str(frame.f_globals.get("__name__", "")) for frame in reversed(frames)]


def _beside() -> list[str]:
    """The folder that is searched first: that of the script, or the current one."""
    return [os.path.abspath(sys.path[0])] if sys.path else []


def _elsewhere() -> list[str]:
    return [path for path in sys.path if os.path.abspath(path) not in _beside()]
