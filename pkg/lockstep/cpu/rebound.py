"""A copy of a function with other globals: the same code, whose names are bound to other values."""

from __future__ import annotations

from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any


def blank(plain: FunctionType) -> FunctionType:
    """A copy of ``plain`` with globals and closure cells of its own, which ``rewire`` fills. In between it can be
    registered, so that a recursive function calls its copy."""
    cells = tuple(CellType() for _ in plain.__closure__ or ())
    twin = FunctionType(plain.__code__, dict(plain.__globals__), plain.__name__, plain.__defaults__, cells)
    twin.__kwdefaults__ = plain.__kwdefaults__
    return twin


def rewire(twin: FunctionType, plain: FunctionType, stand_in: Callable[[Any], Any]) -> None:
    """Bind each name in the code of ``plain`` to ``stand_in(value)``, in ``twin``."""
    for name in names(plain.__code__) & twin.__globals__.keys():
        twin.__globals__[name] = stand_in(plain.__globals__[name])
    for cell, original in zip(twin.__closure__ or (), plain.__closure__ or (), strict=True):
        cell.cell_contents = stand_in(original.cell_contents)


def names(code: Any) -> set[str]:
    """The names used in the code of a function and of those defined inside it."""
    inner = (c for c in code.co_consts if hasattr(c, "co_names"))
    return set(code.co_names).union(*(names(c) for c in inner))


def named(plain: FunctionType) -> list[Any]:
    """The values of the globals and closure cells that a function uses."""
    found = [plain.__globals__[name] for name in sorted(names(plain.__code__)) if name in plain.__globals__]
    return found + [cell.cell_contents for cell in plain.__closure__ or ()]
