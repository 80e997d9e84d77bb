"""The values of a kernel: one for the whole warp, or one for each of its 32 lanes; always of the type numba infers.

A value is a numpy scalar (the same in every lane) or an array of 32. Python has one type for whole numbers and one for
fractions. A GPU has many, and numba chooses among them: whole numbers become 64 bits wide when they are computed with,
a literal 2.0 is a float64, and float32 * 2.0 is therefore done in float64.
https://numba.readthedocs.io/en/stable/proposals/integer-typing.html; tests/simt/test_values.py asks numba itself.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from lockstep.simt.masks import Mask

Value = Any  # a numpy scalar, an array of 32, an Array (memory.py), or a tuple of values
Operation = Callable[[Value, Value], Value]


def typed(constant: object) -> Value:
    """A Python number in the type that numba gives it: bool, int64, float64."""
    if isinstance(constant, bool | np.bool_):
        return np.bool_(constant)
    if isinstance(constant, int):
        return np.int64(constant) if -(2**63) <= constant < 2**63 else np.uint64(constant)
    if isinstance(constant, float):
        return np.float64(constant)
    if isinstance(constant, tuple):
        return tuple(typed(item) for item in constant)
    return constant


class Conversions(dict[tuple[str, str], Any]):
    """By the type codes of both operands, the type in which numba computes; None where NumPy does the same by
    itself."""

    def __init__(self, rule: Callable[[np.dtype[Any], np.dtype[Any]], np.dtype[Any] | None]) -> None:
        super().__init__()
        self.rule = rule

    def __missing__(self, codes: tuple[str, str]) -> Any:
        left, right = (np.dtype(code) for code in codes)
        wanted = self.rule(left, right)
        self[codes] = None if wanted is None or left == right == wanted else wanted
        return self[codes]


def arithmetic(left: np.dtype[Any], right: np.dtype[Any]) -> np.dtype[Any]:
    """The result type of arithmetic: of whole numbers int64, or uint64 if both are unsigned; otherwise as in NumPy."""
    if left.kind in "iub" and right.kind in "iub":
        return np.dtype(np.uint64 if left.kind == right.kind == "u" else np.int64)
    return np.promote_types(left, right)


def bitwise(left: np.dtype[Any], right: np.dtype[Any]) -> np.dtype[Any]:
    return left if left.kind == right.kind == "b" else arithmetic(left, right)


def power(left: np.dtype[Any], right: np.dtype[Any]) -> np.dtype[Any]:
    """The result type of a power: a float keeps its type when it is raised to a whole number."""
    return left if left.kind == "f" and right.kind in "iub" else arithmetic(left, right)


def shifting(left: np.dtype[Any], right: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.uint64 if left.kind == "u" else np.int64)


def binary(function: Operation, rule: Callable[[np.dtype[Any], np.dtype[Any]], np.dtype[Any] | None]) -> Operation:
    conversions = Conversions(rule)

    def apply(left: Value, right: Value) -> Value:
        into = conversions[left.dtype.char, right.dtype.char]
        if into is None:
            return function(left, right)
        return function(left.astype(into), right.astype(into))

    return apply


def _to_the_power(left: Value, right: Value) -> Value:
    if right.dtype.kind in "iu":
        right = np.maximum(right, right.dtype.type(0))  # numpy refuses negative powers, even in lanes that are off
    return np.power(left, right)


BINARY: dict[str, Operation] = {
    "Add": binary(operator.add, arithmetic),
    "Sub": binary(operator.sub, arithmetic),
    "Mult": binary(operator.mul, arithmetic),
    "Div": binary(operator.truediv, arithmetic),
    "FloorDiv": binary(operator.floordiv, arithmetic),
    "Mod": binary(operator.mod, arithmetic),
    "Pow": binary(_to_the_power, power),
    "LShift": binary(operator.lshift, shifting),
    "RShift": binary(operator.rshift, shifting),
    "BitAnd": binary(operator.and_, bitwise),
    "BitOr": binary(operator.or_, bitwise),
    "BitXor": binary(operator.xor, bitwise),
}
COMPARISONS: dict[str, Operation] = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
}


def _negative(value: Value) -> Value:
    return -widened(value)


def _inverted(value: Value) -> Value:
    return ~value if value.dtype.kind == "b" else ~widened(value)


UNARY: dict[str, Callable[[Value], Value]] = {
    "USub": _negative,
    "UAdd": lambda value: widened(value),
    "Invert": _inverted,
    "Not": lambda value: np.logical_not(value),
}


def widened(value: Value) -> Value:
    """Whole numbers in the type that numba computes with."""
    return value.astype(arithmetic(value.dtype, value.dtype)) if value.dtype.kind in "iub" else value


def truth(value: Value) -> Value:
    """The truth value, as an ``if`` uses it: one bool, or 32."""
    return value if value.dtype.char == "?" else value != 0


def select(mask: Mask, chosen: Value, other: Value) -> Value:
    """``chosen`` in the mask's lanes and ``other`` elsewhere, in a type that holds both."""
    if chosen is other:
        return chosen
    if hasattr(chosen, "merged"):  # a view of an array
        return chosen.merged(mask, other)
    if isinstance(chosen, tuple):
        return tuple(select(mask, c, o) for c, o in zip(chosen, other, strict=True))
    return np.where(mask.lanes, chosen, other)


def active(mask: Mask, value: Value) -> Any:
    """The values of the active lanes alone: (count,); a value that all lanes share stays one."""
    return value[mask.lanes] if isinstance(value, np.ndarray) and mask.count < len(value) else value
