"""While a learner's function is observed, the library's own answers refuse to be called.

A trace cannot tell `lockstep.collectives.ring_all_reduce` from a learner's ring, since both send the same messages.
So the reference functions are replaced for the time of a call: their code objects, because the learner may have
imported the functions long before."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType
from typing import Any


class LibraryAnswer(Exception):
    """The learner's function called the library's reference instead of doing the work."""


def _refuse(*args: Any, **kwargs: Any) -> Any:
    from lockstep.checks.guard import LibraryAnswer

    raise LibraryAnswer("this is the library's own answer, which you are asked to write")


_lock = threading.Lock()
_inside = 0
_originals: dict[FunctionType, CodeType] = {}


@contextmanager
def references_refuse(module: str) -> Iterator[None]:
    """The functions of ``module`` (a package with all that is in it; "" for none) raise LibraryAnswer.

    Ranks may be threads of one process: the first one in shuts the door, the last one out opens it."""
    global _inside
    with _lock:
        if _inside == 0:
            _shut(module)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _open()


def _shut(module: str) -> None:
    if not module:
        return
    importlib.import_module(module)
    for function in _functions_of(module):
        _originals[function] = function.__code__
        function.__code__ = _refuse.__code__


def _open() -> None:
    for function, code in _originals.items():
        function.__code__ = code
    _originals.clear()


def _functions_of(module: str) -> list[FunctionType]:
    modules = [m for name, m in list(sys.modules.items()) if (name + ".").startswith(module + ".")]
    found = [f for m in modules if isinstance(m, ModuleType) for f in vars(m).values()]
    own = [f for f in found if isinstance(f, FunctionType) and f.__module__.startswith(module)]
    return [f for f in dict.fromkeys(own) if not f.__code__.co_freevars]
