"""What the fork server has loaded, put out of the collector's sight: a child that looked at it would write into every
object that it looks at, and the system would copy page after page.

A check looks for the functions that have a certain code, copies too. So those of Lockstep are noted by it first:
a child finds the few it asks for here, and looks only at what was made since.
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
    """Which code this is, whatever function it has become part of."""

    file: str
    line: int
    name: str


def key_of(code: CodeType) -> Key:
    return Key(code.co_filename, code.co_firstlineno, code.co_name)


_frozen: defaultdict[Key, list[FunctionType]] = defaultdict(list)


_prepared: list[Callable[[], object]] = []


def prepare(act: Callable[[], object]) -> None:
    """Have ``act`` called whenever a server has loaded something: what every child would do first, and again."""
    _prepared.append(act)


def freeze() -> None:
    """Put all that there is now out of the collector's sight, and note Lockstep's functions by their code."""
    for act in _prepared:
        act()
    for function in gc.get_objects():
        if type(function) is FunctionType and function.__code__.co_filename.startswith(PACKAGE):
            _frozen[key_of(function.__code__)].append(function)
    gc.freeze()


def functions_with(keys: frozenset[Key]) -> list[FunctionType]:
    """Those whose code is one of these; all of Lockstep's own, and of other files those that nobody has frozen."""
    known = [function for key in keys for function in _frozen.get(key, ())]
    return known + [f for f in gc.get_objects() if type(f) is FunctionType and key_of(f.__code__) in keys]
