"""The public names, pinned by hand: whoever changes them changes this file too, and means it."""

import subprocess
import sys

import lockstep


def test_the_names() -> None:
    assert lockstep.__all__ == ["check", "lessons", "predict", "quiz", "reconcile", "run", "show", "your_turn"]
    assert {name for name in dir(lockstep) if not name.startswith("_")} >= set(lockstep.__all__)


def test_each_name_is_what_it_says() -> None:
    functions = [lockstep.run, lockstep.check, lockstep.predict, lockstep.reconcile]
    assert [f.__name__ for f in functions] == ["run", "check", "predict", "reconcile"]
    assert lockstep.show.__name__ == "lockstep.show"


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(lockstep, "trace")


def test_the_named_errors() -> None:
    """What a learner may catch, by the names that the lessons use."""
    from lockstep import errors

    classes = {name: value for name, value in vars(errors).items() if isinstance(value, type)}
    assert {name for name, value in classes.items() if issubclass(value, Exception)} == {
        "LockstepError", "UsageError", "WorldUnavailable",
        "RunError", "Deadlock", "Mismatch", "Unmatched", "RankRaised", "RankDied", "OutOfMemory", "Stuck", "TimeLimit",
        "Race", "RaceWarning",
    }  # fmt: skip


def test_importing_loads_nothing_heavy_and_starts_nothing() -> None:
    code = """
import sys, threading, lockstep, psutil
heavy = {"torch", "numpy", "matplotlib", "IPython", "ipywidgets", "nbgrader"} & set(sys.modules)
assert not heavy, heavy
assert threading.active_count() == 1
assert not psutil.Process().children()
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
