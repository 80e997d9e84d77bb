"""``gc.freeze`` before forks: a garbage collection in a child would write to every object, and so copy every page.

A check searches all functions for certain code, including copies. So Lockstep's functions are indexed by their code
before they are frozen: a child looks them up here, and searches only the objects made since.
"""

from __future__ import annotations

import gc
import os
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple

PACKAGE = os.path.join(Path(__file__).parents[1], "")


class Key(NamedTuple):
    """The identity of a code object, whatever function it is part of."""

    file: str
    line: int
    name: str


def key_of(code: CodeType) -> Key:
    return Key(code.co_filename, code.co_firstlineno, code.co_name)


_frozen: defaultdict[Key, list[FunctionType]] = defaultdict(list)


_prepared: list[Callable[[], object]] = []


def prepare(act: Callable[[], object]) -> None:
    """Register ``act``, to be called whenever a server has loaded modules: work that every child would repeat."""
    _prepared.append(act)


def freeze() -> None:
    """Freeze all existing objects, after indexing Lockstep's functions by their code."""
    for act in _prepared:
        act()
    for function in gc.get_objects():
        if type(function) is FunctionType and function.__code__.co_filename.startswith(PACKAGE):
            _frozen[key_of(function.__code__)].append(function)
    gc.freeze()


def functions_with(keys: frozenset[Key]) -> list[FunctionType]:
    """The functions with one of these codes: all of Lockstep's, and unfrozen ones of other files."""
    known = [function for key in keys for function in _frozen.get(key, ())]
    return known + [f for f in gc.get_objects() if type(f) is FunctionType and key_of(f.__code__) in keys]
