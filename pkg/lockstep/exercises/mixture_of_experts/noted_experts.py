"""Experts that record their calls, in numbers that are exact in float32: each multiplies its rows and adds
something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor


class Noted:
    """The experts ``first`` to ``first`` + ``number`` - 1, which are on a rank. ``calls``: (i, rows) of each call."""

    def __init__(self, first: int, number: int, width: int) -> None:
        self.own = [coefficients(first + i) for i in range(number)]
        self.width, self.calls = width, list[tuple[int, int]]()

    def __call__(self, i: int, rows: Tensor) -> Tensor:
        if not 0 <= i < len(self.own):
            raise ValueError(f"compute knows this rank's experts, 0 to {len(self.own) - 1}, and this is i = {i}.")
        if rows.dim() != 2 or rows.shape[1] != self.width:
            raise ValueError(f"compute takes rows of shape (n, {self.width}), and these have {tuple(rows.shape)}.")
        self.calls.append((int(i), len(rows)))
        factor, offset = self.own[i]
        return factor * rows + offset


def coefficients(expert: int) -> tuple[int, int]:
    """The factor and what is added: of two experts at least one differs."""
    return (1 if expert % 2 else -1) * (1 + expert % 5), 1 + expert


def observed(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, list[list[int]]]:
    """What ``fn`` returns, and the calls of the experts among its ``arguments``."""
    result = fn(*arguments)
    noted = next(a for a in arguments if isinstance(a, Noted))
    return result, [[*call] for call in noted.calls]
