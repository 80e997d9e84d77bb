"""Functions without a side effect that a kernel may call: builtins, ``math``, NumPy's ufuncs, casts, bits."""

from __future__ import annotations

import builtins
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lockstep.simt.lane_values import BINARY, Value, truth

Pure = Callable[..., Value]


def _each(function: Callable[..., Any]) -> Pure:
    """Lane by lane, for what NumPy lacks."""
    vectorised = np.vectorize(function, otypes=[np.float64])

    def apply(value: Value) -> Value:
        kind = np.float32 if value.dtype == np.float32 else np.float64
        return vectorised(value).astype(kind)[()]

    return apply


def _whole(function: Pure) -> Pure:
    """``math.floor`` and ``math.ceil`` give whole numbers."""
    return lambda value: function(value).astype(np.int64)


RENAMED: dict[str, Pure] = {
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "pow": BINARY["Pow"],
    "floor": _whole(np.floor),
    "ceil": _whole(np.ceil),
    "erf": _each(math.erf),
    "erfc": _each(math.erfc),
    "gamma": _each(math.gamma),
    "lgamma": _each(math.lgamma),
}
SAME = (
    *("sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p"),
    *("sin", "cos", "tan", "sinh", "cosh", "tanh", "hypot", "degrees", "radians"),
    *("fabs", "trunc", "fmod", "copysign", "isnan", "isinf", "isfinite"),
)


def _least(*values: Value) -> Value:
    return functools.reduce(np.minimum, values)


def _greatest(*values: Value) -> Value:
    return functools.reduce(np.maximum, values)


def _float(value: Value) -> Value:
    return value if value.dtype.kind == "f" else value.astype(np.float64)


def _int(value: Value) -> Value:
    return value.astype(np.int64) if value.dtype.kind in "fb" else value


def _round(value: Value) -> Value:
    return np.rint(value).astype(np.int64)


def _length(value: Value) -> Value:
    return np.int64(len(value) if isinstance(value, tuple) else value.shape[0])


def _bits(value: Value) -> Any:
    """As unsigned numbers of the same width."""
    kind = np.dtype(f"u{value.dtype.itemsize}")
    return np.asarray(value).astype(kind), 8 * kind.itemsize


def popc(value: Value) -> Value:
    return np.bitwise_count(_bits(value)[0]).astype(np.int64)


def clz(value: Value) -> Value:
    """How many of the highest bits are 0."""
    word, width = _bits(value)
    return sum((word >> np.array(bit, word.dtype) == 0).astype(np.int64) for bit in range(width))


def ffs(value: Value) -> Value:
    """The place of the lowest bit that is set, counted from 1; 0 if none is."""
    word, _ = _bits(value)
    one = np.array(1, word.dtype)
    below = (word & (~word + one)) - one
    place: Value = np.where(word == 0, 0, np.bitwise_count(below) + 1)
    return place.astype(np.int64)[()]


def brev(value: Value) -> Value:
    """The bits in reverse order."""
    word, width = _bits(value)
    one, found = np.array(1, word.dtype), np.zeros_like(word)
    for bit in range(width):
        found = found | ((word >> np.array(bit, word.dtype)) & one) << np.array(width - 1 - bit, word.dtype)
    return found.astype(value.dtype)[()]


def selp(test: Value, chosen: Value, other: Value) -> Value:
    found: Value = np.where(truth(test), chosen, other)
    return found[()]


def fma(a: Value, b: Value, c: Value) -> Value:
    """a·b + c with one rounding; exact for float32, whose products fit into float64."""
    kind = np.result_type(a, b, c)
    wide = np.float64 if kind == np.float32 else kind
    return (np.asarray(a).astype(wide) * b + c).astype(kind)[()]


BITS_AND_MORE: dict[str, Pure] = {"popc": popc, "clz": clz, "ffs": ffs, "brev": brev, "selp": selp, "fma": fma}


@functools.cache
def pure_functions() -> dict[int, Pure]:
    """By the identity of Python's, NumPy's or numba's object."""
    from numba import cuda

    found: dict[int, Pure] = {id(getattr(math, name)): getattr(np, name) for name in SAME if hasattr(math, name)}
    found |= {id(getattr(math, name)): function for name, function in RENAMED.items()}
    found |= {
        id(builtins.min): _least,
        id(builtins.max): _greatest,
        id(builtins.abs): np.abs,
        id(builtins.len): _length,
    }
    found |= {id(builtins.float): _float, id(builtins.int): _int, id(builtins.bool): truth, id(builtins.round): _round}
    found[id(builtins.pow)] = BINARY["Pow"]
    found |= {id(getattr(cuda, name)): f for name, f in BITS_AND_MORE.items()}
    found[id(cuda.cbrt)] = np.cbrt
    return found


def cast(known: object) -> Pure | None:
    """``float32(x)`` and the like, by numba's type or NumPy's."""
    from numba.core import types
    from numba.np.numpy_support import as_dtype

    if isinstance(known, types.Number | types.Boolean):
        known = as_dtype(known).type
    if isinstance(known, type) and issubclass(known, np.generic):
        kind = np.dtype(known)
        return lambda value: value.astype(kind)
    return known if isinstance(known, np.ufunc) else None
