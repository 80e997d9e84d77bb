"""A function once more: the same code, in which other things go by the names that it uses."""

from __future__ import annotations

from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any


def blank(plain: FunctionType) -> FunctionType:
    """A twin of ``plain`` with globals and cells of its own; ``rewire`` fills them. In between a function that calls
    itself can be given its twin."""
    cells = tuple(CellType() for _ in plain.__closure__ or ())
    twin = FunctionType(plain.__code__, dict(plain.__globals__), plain.__name__, plain.__defaults__, cells)
    twin.__kwdefaults__ = plain.__kwdefaults__
    return twin


def rewire(twin: FunctionType, plain: FunctionType, stand_in: Callable[[Any], Any]) -> None:
    """Put ``stand_in(value)`` in place of each value that the code of ``plain`` names."""
    for name in names(plain.__code__) & twin.__globals__.keys():
        twin.__globals__[name] = stand_in(plain.__globals__[name])
    for cell, original in zip(twin.__closure__ or (), plain.__closure__ or (), strict=True):
        cell.cell_contents = stand_in(original.cell_contents)


def names(code: Any) -> set[str]:
    """What a function's code names, and that of the functions inside it."""
    inner = (c for c in code.co_consts if hasattr(c, "co_names"))
    return set(code.co_names).union(*(names(c) for c in inner))


def named(plain: FunctionType) -> list[Any]:
    """The values of its globals and cells that a function's code names."""
    found = [plain.__globals__[name] for name in sorted(names(plain.__code__)) if name in plain.__globals__]
    return found + [cell.cell_contents for cell in plain.__closure__ or ()]
