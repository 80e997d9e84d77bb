"""Whether an answer is the value that a plain exercise expects, and if not, where it differs first.

Numbers may differ by rounding. A list stands for any sequence: a tuple, an array or a tensor with the same numbers. A
tensor and an array are wanted as such, of the same shape, in floats of any width.
"""

from __future__ import annotations

import math
import reprlib
from typing import Any, Literal, NamedTuple

import numpy
import torch
from torch import Tensor

from lockstep.checks.numbers import apart, number, number_of
from lockstep.checks.plain import Other
from lockstep.checks.wording import counted

CLOSE = 1e-9  # relative, in Python's numbers and float64: any order of operations is right
NEAR_ZERO = 1e-12
COARSE = {torch.float32: 1e-5, torch.bfloat16: 2e-2, torch.float16: 2e-3}  # what a few operations leave of these
LONG = 70  # characters


class Difference(NamedTuple):
    """``path``: where in the value, as in "[2]['loss']", empty for all of it; ``there`` and ``right``: what is there,
    and what should be: values, or where the shapes differ what each has, as "3 values"."""

    kind: Literal["wrong-values", "wrong-type", "wrong-shape"]
    path: str
    there: str
    right: str


def difference(held: Any, wanted: Any, tolerance: float | None = None, path: str = "") -> Difference | None:
    """The first difference; None where the answer is the wanted one."""
    if isinstance(wanted, (Tensor, numpy.ndarray)):
        return _of_tensors(held, wanted, tolerance, path)
    if isinstance(wanted, (list, tuple)):
        return _of_sequences(held, wanted, tolerance, path)
    if isinstance(wanted, dict):
        return _of_dicts(held, wanted, tolerance, path)
    if isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
        return _of_numbers(held, wanted, tolerance, path)
    same_type = type(held) is type(wanted) or (isinstance(held, complex) and isinstance(wanted, complex))
    if not same_type:
        return Difference("wrong-type", path, shown(held), shown(wanted))
    if isinstance(wanted, complex):
        right = abs(held - wanted) <= max(NEAR_ZERO, (tolerance or CLOSE) * abs(wanted))
    else:
        right = held == wanted
    return None if right else Difference("wrong-values", path, shown(held), shown(wanted))


def _of_numbers(held: Any, wanted: float, tolerance: float | None, path: str) -> Difference | None:
    value = held if isinstance(held, int) and not isinstance(held, bool) else number_of(held)
    if value is None:
        return Difference("wrong-type", path, shown(held), shown(wanted))
    if isinstance(value, int) and isinstance(wanted, int) and tolerance is None:
        right = value == wanted
    else:
        right = _close(float(value), float(wanted), tolerance)
    return None if right else Difference("wrong-values", path, *_told(value, wanted))


def _told(value: float, wanted: float) -> tuple[str, str]:
    if isinstance(value, int) and isinstance(wanted, int):
        return f"{value:,}" if abs(value) > 9999 else f"{value}", f"{wanted:,}" if abs(wanted) > 9999 else f"{wanted}"
    return apart(float(value), float(wanted))


def _close(value: float, wanted: float, tolerance: float | None) -> bool:
    if math.isnan(value) or math.isnan(wanted):
        return math.isnan(value) and math.isnan(wanted)
    return math.isclose(value, wanted, rel_tol=tolerance or CLOSE, abs_tol=tolerance or NEAR_ZERO)


def _of_sequences(
    held: Any, wanted: list[Any] | tuple[Any, ...], tolerance: float | None, path: str
) -> Difference | None:
    values = held.tolist() if isinstance(held, (Tensor, numpy.ndarray)) else held
    if not isinstance(values, (list, tuple)):
        return Difference("wrong-type", path, shown(held), f"a {type(wanted).__name__}, {shown(wanted)}")
    if len(values) != len(wanted):
        return Difference("wrong-shape", path, counted(len(values), "value"), f"{len(wanted)}")
    pairs = enumerate(zip(values, wanted, strict=True))
    found = (difference(value, want, tolerance, f"{path}[{n}]") for n, (value, want) in pairs)
    return next(filter(None, found), None)


def _of_dicts(held: Any, wanted: dict[Any, Any], tolerance: float | None, path: str) -> Difference | None:
    if not isinstance(held, dict):
        return Difference("wrong-type", path, shown(held), f"a dict, {shown(wanted)}")
    if held.keys() != wanted.keys():
        return Difference("wrong-shape", path, *(f"the keys {shown(list(d))}" for d in (held, wanted)))
    found = (difference(held[key], want, tolerance, f"{path}[{key!r}]") for key, want in wanted.items())
    return next(filter(None, found), None)


def _of_tensors(held: Any, wanted: Any, tolerance: float | None, path: str) -> Difference | None:
    noun = "tensor" if isinstance(wanted, Tensor) else "array"
    if not isinstance(held, Tensor if noun == "tensor" else numpy.ndarray):
        return Difference("wrong-type", path, shown(held), f"{_a(noun)} of shape {tuple(wanted.shape)}")
    if tuple(held.shape) != tuple(wanted.shape):
        return Difference("wrong-shape", path, *(f"the shape {tuple(v.shape)}" for v in (held, wanted)))
    mine, right = (v if isinstance(v, Tensor) else torch.from_numpy(v) for v in (held, wanted))
    if mine.dtype != right.dtype and not (mine.is_floating_point() and right.is_floating_point()):
        return Difference("wrong-type", path, *(f"{_a(noun)} of {v.dtype}" for v in (mine, right)))
    off = ~_alike(mine, right, tolerance)
    if not bool(off.any()):
        return None
    at = tuple(off.nonzero()[0].tolist())
    place = f"{path}[{', '.join(map(str, at))}]" if at else path
    return Difference("wrong-values", place, *apart(mine[at].item(), right[at].item()))


def _alike(mine: Tensor, right: Tensor, tolerance: float | None) -> Tensor:
    """By element. A sum that comes to nearly nothing is compared with what was summed: the largest element."""
    if not mine.is_floating_point():
        return mine == right
    relative = tolerance or max(COARSE.get(t.dtype, CLOSE) for t in (mine, right))
    wide = right.double()
    finite = wide[wide.isfinite()].abs()
    largest = float(finite.max()) if finite.numel() else 0.0
    absolute = tolerance or max(NEAR_ZERO, relative * largest)
    return torch.isclose(mine.double(), wide, rtol=relative, atol=absolute, equal_nan=True)


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0].lower() in "aeiou" else f"a {noun}"


class _Short(reprlib.Repr):
    def __init__(self, exact: bool) -> None:
        super().__init__()
        self.maxlist = self.maxtuple = self.maxdict = self.maxset = 6
        self.maxstring = self.maxother = 40
        self.maxlevel = 4
        self.exact = exact

    def repr_float(self, value: float, level: int) -> str:
        return repr(value) if self.exact else number(value, 6)

    def repr_NoneType(self, value: None, level: int) -> str:
        return "None"

    def repr_Other(self, value: Other, level: int) -> str:
        return _a(value.type)

    def repr_Tensor(self, value: Tensor, level: int) -> str:
        return f"tensor({self.repr1(value.tolist(), level)})" if value.numel() <= 6 else _shape("tensor", value)

    def repr_ndarray(self, value: Any, level: int) -> str:
        return f"array({self.repr1(value.tolist(), level)})" if value.size <= 6 else _shape("array", value)


def _shape(noun: str, value: Any) -> str:
    return f"{_a(noun)} of shape {tuple(value.shape)}"


def shown(value: Any) -> str:
    """A value in a sentence, in one short line."""
    return "nothing (None)" if value is None else _short(value)


def shown_exactly(value: Any) -> str:
    """The same of an argument, whose numbers are not rounded: the answer would be another."""
    return _short(value, exact=True)


def _short(value: Any, exact: bool = False) -> str:
    told = _Short(exact).repr(value)
    return told if len(told) <= LONG else f"{told[: LONG - 1]}…"
