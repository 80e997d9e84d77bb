"""The machine's types are numba's: numba itself is asked."""

import itertools
import operator
from typing import Any

import numpy as np
import pytest
from numba import njit
from numba.core import types
from numba.core.registry import cpu_target
from numba.np.numpy_support import as_dtype, from_dtype

from lockstep.simt.lane_values import BINARY, UNARY, select, typed
from lockstep.simt.masks import ALL, LANES, NONE, Mask

KINDS = [np.dtype(kind) for kind in ("?", "i1", "i2", "i4", "i8", "u1", "u4", "u8", "f4", "f8")]
OPERATORS = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
}
BITWISE = {"LShift", "RShift", "BitAnd", "BitOr", "BitXor"}


def numbas_type(function: Any, *kinds: np.dtype) -> np.dtype:
    context = cpu_target.typing_context
    context.refresh()
    found = context.resolve_function_type(function, tuple(from_dtype(kind) for kind in kinds), {})
    return as_dtype(found.return_type)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", list(OPERATORS))
def test_results_have_the_type_that_numba_gives_them(name: str) -> None:
    for left, right in itertools.product(KINDS, KINDS):
        if (name in BITWISE and "f" in left.kind + right.kind) or (name == "Pow" and left.kind == "b"):
            continue
        for a, b in ((left.type(1), right.type(1)), (np.ones(LANES, left), np.ones(LANES, right))):
            found = BINARY[name](a, b)
            assert found.dtype == numbas_type(OPERATORS[name], left, right), f"{left} {name} {right}"


@pytest.mark.parametrize(("name", "function"), [("USub", operator.neg), ("UAdd", operator.pos)])
def test_signs_have_the_type_that_numba_gives_them(name: str, function: Any) -> None:
    for kind in KINDS[:5] + KINDS[-2:]:
        assert UNARY[name](kind.type(1)).dtype == numbas_type(function, kind)


def test_whole_numbers_wrap_at_64_bits_as_in_compiled_code() -> None:
    @njit
    def product(a: int, b: int) -> int:
        return a * a * b

    values = np.array([2**31 - 1, 2**31 - 7, -(2**31)], np.int32)
    found = BINARY["Mult"](BINARY["Mult"](values, values), typed(3))
    assert found.tolist() == [product(value, 3) for value in values]


def test_a_literal_is_64_bits_wide() -> None:
    """float32 * 2.0 is done in float64 on a GPU, too, unless one writes float32(2.0)."""
    assert types.float64 == from_dtype(BINARY["Mult"](np.float32(1), typed(2.0)).dtype)
    assert BINARY["Mult"](np.float32(1), np.float32(2.0)).dtype == np.float32
    assert [typed(value).dtype.char for value in (True, 3, 0.5)] == ["?", "l", "d"]


def test_masks_part_and_come_together() -> None:
    lower = np.arange(LANES) < 10
    yes, no = ALL.split(lower)
    assert (yes.count, no.count) == (10, 22)
    assert (yes | no) is ALL
    assert ALL.split(np.bool_(True)) == (ALL, NONE)
    assert yes.split(np.zeros(LANES, bool)) == (NONE, yes)
    assert yes.split(np.ones(LANES, bool)) == (yes, NONE)
    assert yes.bits() == 0x3FF
    assert no.without(Mask.of(np.arange(LANES) < 20)).bits() == 0xFFF00000


def test_lanes_that_are_off_keep_their_values() -> None:
    some = Mask.of(np.arange(LANES) % 2 == 0)
    merged = select(some, (np.int64(7), np.float32(0.5)), (np.arange(LANES), np.int64(1)))
    assert merged[0].tolist()[:4] == [7, 1, 7, 3]
    assert merged[1].dtype == np.float64
