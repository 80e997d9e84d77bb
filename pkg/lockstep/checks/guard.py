"""While a learner's function is observed, the library's own answers and the judges' helpers refuse to be called.

A trace cannot tell `lockstep.collectives.ring_all_reduce` from a learner's ring, since both send the same messages.
What counts is what runs, under whichever name: so the code objects of these functions are replaced, in copies that
were made before, too, and an audit hook refuses to make new functions of them and to execute their files again. In a
process that was started for one run nothing of this is ever undone, and nobody keeps what was there before: the hook
itself knows what is shut (``_for_good``), and no name that whoever runs here could set. The reference itself is
observed in a run of its own, in which nothing is shut."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from lockstep.checks.reach import Walk, loaded, reached
from lockstep.cpu.rebound import named
from lockstep.forking.gc_freeze import Key, functions_with, key_of
from lockstep.launch.job import INSIDE

FOLDER = os.path.join(os.path.dirname(__file__), "")  # in which no file may be executed that was not before
JUDGES = ("lockstep.checks.", "lockstep.exercises.")


class LibraryAnswer(Exception):
    """The learner's function called the library's reference instead of doing the work."""


class NotWritten(NotImplementedError):
    """The learner's function, which is read and not called, would raise NotImplementedError."""


def _refuse(*args: Any, **kwargs: Any) -> Any:
    from lockstep.checks.guard import LibraryAnswer

    raise LibraryAnswer("this is the library's own answer, which you are asked to write")


def keys_of(code: CodeType) -> Iterator[Key]:
    """Its own, and those of the functions that it defines."""
    yield key_of(code)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from keys_of(constant)


class Shut(NamedTuple):
    """What may not run now."""

    module: str  # of the answers
    keys: frozenset[Key]
    files: frozenset[str]  # that may not be executed again


_shut: Shut | None = None
_ahead: Walk | None = None  # from what every run needs: a server's, which its children go on with


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


def refused() -> str:
    """The module whose answers a learner may not use now; "" for none. For a watch that looks at code, not at calls."""
    return _shut.module if _shut else ""


@contextmanager
def references_refuse(module: str, *needed: Any) -> Iterator[None]:
    """The functions of ``module`` (a package with all that is in it; "" for none) raise LibraryAnswer, and so do all of
    JUDGES; except what ``needed`` hold (functions that run together with the learner's or are passed to it), and what
    these call of JUDGES.

    The ranks of a virtual cluster are threads of one process, and of that one nothing is opened again."""
    global _shut
    if not module or _shut:
        yield
        return
    targets, kept = _functions(module, needed)
    open_ = {key for function in kept for key in keys_of(function.__code__)}  # of a judge's closure, say
    keys = frozenset(key for function in targets for key in keys_of(_plain(function).__code__)) - open_
    answers = frozenset(key.file for key in keys if not key.file.startswith(FOLDER))
    originals = {f: f.__code__ for f in _all_with(keys, targets) if not f.__code__.co_freevars}
    for function in originals:
        function.__code__ = _refuse.__code__
    _shut = Shut(module, keys, answers)
    if os.environ.get(INSIDE) in ("processes", "virtual"):
        originals.clear()
        sys.addaudithook(_for_good(_shut))
    else:
        _listen()
    try:
        yield
    finally:
        if originals:
            _shut = None
            for function, code in originals.items():
                function.__code__ = code


def look_ahead(*needed: Any) -> None:
    """Go now from function to function, as far as every run that needs these must: it takes a rank 10 ms. Again when
    modules were loaded since."""
    global _ahead
    _ahead = _ahead or Walk(JUDGES)
    _ahead.go_on((*_own(), *needed))


def _own() -> tuple[Callable[..., Any], ...]:
    return _listen, _audit, _watch, _for_good, _refuse, refuse_borrowed


def _functions(module: str, needed: tuple[Any, ...]) -> tuple[list[Any], set[Any]]:
    """The functions of the answer's module, compiled ones too, and the judges'; and those that are needed."""
    importlib.import_module(module)
    kept = reached((*_own(), *needed), JUDGES, _ahead)
    found = []
    for name, there in loaded((module, *JUDGES)):
        if isinstance(there, ModuleType) and f"{name}.".startswith((f"{module}.", *JUDGES)):
            for function in vars(there).values():
                at_home = getattr(function, "__module__", None) == name and _plain(function) is not None
                if at_home and function not in kept and not _plain(function).__name__.startswith("__"):
                    found.append(function)
    return found, kept


def _plain(function: Any) -> Any:
    """The Python function of what numba has made of one; None for anything else."""
    plain = getattr(function, "py_func", function)
    return plain if type(plain) is FunctionType else None


def _all_with(keys: frozenset[Key], targets: list[Any]) -> list[FunctionType]:
    """The functions to shut: these, and whatever copies there are of them."""
    copies = functions_with(keys)
    compiled = {_plain(t) for t in targets if type(t) is not FunctionType}  # numba looks into their code itself
    return [f for f in dict.fromkeys([*(t for t in targets if type(t) is FunctionType), *copies]) if f not in compiled]


_listening = False


def _listen() -> None:
    """In a process that goes on after the run. A hook cannot be taken away; where nothing is shut, it does nothing."""
    global _listening
    if not _listening:
        _listening = True
        sys.addaudithook(_audit)


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _shut is not None:
        _watch(event, arguments, _shut)


def _watch(
    event: str,
    arguments: tuple[Any, ...],
    shut: Shut,
    folder: str = FOLDER,
    here: str = _refuse.__code__.co_filename,
    refusal: type[Exception] = LibraryAnswer,
    type_of: Callable[[Any], type] = type,
    code_type: type = CodeType,
    function_type: type = FunctionType,
) -> None:
    """Raise for what would make an answer that is ``shut`` run. It looks up no name, neither here nor in builtins: all
    that it uses are its parameters."""
    told = "this is the library's own answer, which you are asked to write"
    if event not in ("function.__new__", "exec", "object.__setattr__", "object.__delattr__"):
        return
    first, code = arguments[0], arguments[-1]
    if type_of(first) is function_type and first.__code__.co_filename == here:
        raise refusal(told)
    if type_of(code) is not code_type:
        return
    file, name = code.co_filename, code.co_name
    again = name == "<module>" and (file in shut.files or file.startswith(folder))
    if again or (file, code.co_firstlineno, name) in shut.keys:
        raise refusal(told)


def _for_good(shut: Shut) -> Callable[..., None]:
    """A hook that knows by the values of its own parameters what is ``shut``. Who sets these is refused."""
    defaults = shut, *(_watch.__defaults__ or ())
    return FunctionType(_watch.__code__, {}, _watch.__name__, defaults)
