"""Which functions a function may come to call, as far as the names in its code tell. Rather too many than too few."""

from __future__ import annotations

import copy
import importlib
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from itertools import takewhile
from types import CodeType, FunctionType, MethodType
from typing import Any

from lockstep.checks.names_in_code import inside, used

DEPTH = 4  # of containers in containers
NUMBERS = (bool, int, float, str)  # there may be a million of them in a list


def reached(begin: Iterable[Any], packages: tuple[str, ...], ahead: Walk | None = None) -> set[Any]:
    """The functions of ``packages`` ("lockstep.checks.") that may be called once one of ``begin`` is. Modules of it
    that are imported on the way are imported now. ``ahead``: a walk through the same packages that has begun with some
    of them; it is gone on with, and stays as it is."""
    walk = copy.copy(ahead) if ahead else Walk(packages)
    walk.go_on(begin)
    return walk.found


class Walk:
    """How far one has come from function to function."""

    def __init__(self, packages: tuple[str, ...]) -> None:
        self._packages = packages
        self.found: set[Any] = set()
        self._seen: set[str] = set()  # names of attributes
        self._loaded: list[str] = []  # modules in which these were looked for
        self._known: Mapping[str, list[Any]] = {}  # what there is by which name

    def __copy__(self) -> Walk:
        other = Walk(self._packages)
        other.found, other._seen = set(self.found), set(self._seen)
        other._loaded, other._known = self._loaded, self._known
        return other

    def go_on(self, begin: Iterable[Any]) -> None:
        """From these, too; and to what the modules know by now that have been loaded since."""
        waiting = [function for given in begin for function in functions_in(given)]
        waiting += self._in_new_modules()
        while waiting:
            function = waiting.pop()
            if function in self.found:
                continue
            self.found.add(function)
            plain, attributes = _names(function.__code__)
            own = [function.__globals__.get(name) for name in plain]
            waiting += [f for value in own if _of(value, self._packages) for f in functions_in(value)]
            for name in attributes - self._seen:
                self._seen.add(name)
                if name.startswith(self._packages) and name not in sys.modules:
                    importlib.import_module(name)
                    waiting += self._in_new_modules()
                waiting += self._by_name(name)

    def _in_new_modules(self) -> list[FunctionType]:
        """What the names that were seen so far may mean since modules were loaded."""
        now = [name for name, _ in loaded(self._packages)]
        if now == self._loaded:
            return []
        self._loaded, self._known = now, _globals(self._packages)
        return [f for name in self._seen for f in self._by_name(name)]

    def _by_name(self, name: str) -> list[FunctionType]:
        return [f for value in self._known.get(name, ()) for f in functions_in(value)]


def functions_in(value: Any, depth: int = DEPTH) -> Iterator[FunctionType]:
    """The function that ``value`` is, or those that it holds: a class its methods, a table its entries, an object of
    Lockstep's, or of a dataclass, both."""
    if type(value) is FunctionType:
        yield value
        yield from (f for cell in value.__closure__ or () for f in _held(cell, depth))
    elif isinstance(value, partial):
        yield from functions_in(value.func, depth)
        yield from functions_in([*value.args, *value.keywords.values()], depth)
    elif isinstance(value, MethodType):
        yield from functions_in(value.__func__, depth)
        yield from functions_in(value.__self__, depth)
    elif isinstance(value, (staticmethod, classmethod)):
        yield from functions_in(value.__func__, depth)
    elif isinstance(value, property):
        yield from functions_in(value.fget, depth)
    elif depth:
        parts: Iterable[Any] = ()
        if isinstance(value, type):
            parts = vars(value).values()
        elif isinstance(value, Mapping):
            parts = [*value.keys(), *value.values()]
        elif isinstance(value, (list, tuple, set, frozenset)):
            parts = [part for part in value if type(part) not in NUMBERS]
        elif is_dataclass(value):
            parts = [type(value), *(getattr(value, f.name, None) for f in fields(value))]
        elif type(value).__module__.startswith("lockstep.") and not isinstance(value, Walk):  # which holds all it found
            parts = [type(value), *getattr(value, "__dict__", {}).values()]
        for part in parts:
            yield from functions_in(part, depth - 1)


def _held(cell: Any, depth: int) -> Iterator[FunctionType]:
    try:
        content = cell.cell_contents
    except ValueError:  # it is empty
        return
    if depth:
        yield from functions_in(content, depth - 1)


def _names(code: CodeType) -> tuple[set[str], set[str]]:
    """Names of its module's that it uses, and those of attributes and imports, of which nobody knows whose they are."""
    plain: set[str] = set()
    others: set[str] = set()
    for part in inside(code):
        for operation, name in used(part):
            (plain if "GLOBAL" in operation else others).add(name)
    return plain, others


def _globals(packages: tuple[str, ...]) -> Mapping[str, list[Any]]:
    """What the modules of ``packages`` call by which name, and what they import by it."""
    found = defaultdict(list)
    for _, module in loaded(packages):
        for name, value in list(vars(module).items()):
            if _of(value, packages):
                found[name].append(value)
    return found


_known: list[str] = []  # modules of Lockstep's, in the order in which they were loaded
_looked: tuple[str, int] = "", 0  # the module that had been loaded last, and how many there were, when we looked


def loaded(packages: tuple[str, ...]) -> list[tuple[str, Any]]:
    """The modules of Lockstep's that are loaded and whose names begin so. Where modules were added only, it looks at
    these alone: to go through all that a process has costs a fork of it 8 ms, since who takes a reference to an object
    writes into it, and its page is copied."""
    global _looked
    last, number = _looked
    modules = sys.modules if type(sys.modules) is dict else list(sys.modules)
    new = list(takewhile(last.__ne__, reversed(modules)))
    if len(new) < len(modules) - number:  # the last one has gone, or has come once more
        new = list(reversed(modules))
    _looked = next(reversed(modules)), len(modules)
    _known.extend(name for name in reversed(new) if name.startswith("lockstep."))
    names = (name for name in dict.fromkeys(_known) if name.startswith(packages))
    return [(name, sys.modules[name]) for name in names if name in sys.modules]


loaded(())


def _of(value: Any, packages: tuple[str, ...]) -> bool:
    return str(getattr(value, "__module__", packages[0])).startswith(packages)
