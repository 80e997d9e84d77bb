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

from lockstep.cpu.twins import named


class LibraryAnswer(Exception):
    """The learner's function called the library's reference instead of doing the work."""


def _refuse(*args: Any, **kwargs: Any) -> Any:
    from lockstep.checks.guard import LibraryAnswer

    raise LibraryAnswer("this is the library's own answer, which you are asked to write")


def refuses(function: object) -> bool:
    """Whether ``function`` is one of the library's answers, and shut now. For those who read a function's source
    instead of calling it."""
    return getattr(function, "__code__", None) is _refuse.__code__


def refuse_borrowed(fn: Any, seen: frozenset[int] = frozenset()) -> None:
    """Raise LibraryAnswer if a function names, itself or by what it calls, an answer that is refused now. A compiler
    inlines what is called, so that nothing is left to refuse at run time."""
    package, plain = refused().rpartition(".")[0], getattr(fn, "py_func", fn)
    if not package or id(fn) in seen:
        return
    if isinstance(plain, ModuleType) and f"{plain.__name__}.".startswith("lockstep."):
        raise LibraryAnswer("a module of the library is used in the function")
    if not isinstance(plain, FunctionType):
        return
    if plain.__module__ and plain.__module__.startswith(package):
        raise LibraryAnswer("this is the library's own answer, which you are asked to write")
    for value in named(plain):
        refuse_borrowed(value, seen | {id(fn)})


_lock = threading.Lock()
_inside = 0
_originals: dict[FunctionType, CodeType] = {}
_refused = ""


def refused() -> str:
    """The module whose answers a learner may not use now; "" for none. For a watch that looks at code, not at calls."""
    return _refused


@contextmanager
def references_refuse(module: str) -> Iterator[None]:
    """The functions of ``module`` (a package with all that is in it; "" for none) raise LibraryAnswer.

    Ranks may be threads of one process: the first one in shuts the door, the last one out opens it."""
    global _inside, _refused
    with _lock:
        if _inside == 0:
            _refused = module
            _shut(module)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _refused = ""
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
