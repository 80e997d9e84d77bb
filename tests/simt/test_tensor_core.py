"""The tensor core's fragments are those of the PTX manual, and its product is the matrix product."""

from __future__ import annotations

import numpy as np
import pytest

from lockstep.errors import UsageError
from lockstep.simt.kernels.fragments import fragment_matmul
from lockstep.simt.tensor_core import (
    A_PLACES,
    B_PLACES,
    C_PLACES,
    dot,
    load_fragment,
    mma_m16n8k16,
    store_fragment,
)  # fmt: skip


@pytest.mark.parametrize(("places", "shape"), [(A_PLACES, (16, 16)), (B_PLACES, (16, 8)), (C_PLACES, (16, 8))])
def test_every_element_has_one_owner(places: np.ndarray, shape: tuple[int, int]) -> None:
    owned = {tuple(place) for place in places.reshape(-1, 2).tolist()}
    assert owned == {(r, c) for r in range(shape[0]) for c in range(shape[1])}
    assert places.shape[0] * places.shape[1] == shape[0] * shape[1]


def test_places_of_the_manual() -> None:
    """Rows of the figures in the PTX ISA: lane 0 holds a0 … a7, lane 5 holds row 1, columns 2, 3, 10, 11."""
    assert A_PLACES[0].tolist() == [[0, 0], [0, 1], [8, 0], [8, 1], [0, 8], [0, 9], [8, 8], [8, 9]]
    assert A_PLACES[5, :2].tolist() == [[1, 2], [1, 3]]
    assert B_PLACES[6].tolist() == [[4, 1], [5, 1], [12, 1], [13, 1]]
    assert C_PLACES[31].tolist() == [[7, 6], [7, 7], [15, 6], [15, 7]]


def test_load_and_store_are_each_others_reverse() -> None:
    matrix = np.arange(256, dtype=np.float16).reshape(16, 16)
    assert (store_fragment(load_fragment(matrix, A_PLACES), A_PLACES) == matrix).all()


def test_one_instruction_is_a_matrix_product() -> None:
    random = np.random.default_rng(0)
    A, B = random.integers(-8, 9, (16, 16)).astype(np.float16), random.integers(-8, 9, (16, 8)).astype(np.float16)
    C = random.integers(-8, 9, (16, 8)).astype(np.float32)
    d = mma_m16n8k16(load_fragment(A, A_PLACES), load_fragment(B, B_PLACES), load_fragment(C, C_PLACES))
    assert (store_fragment(d, C_PLACES) == A.astype(np.float32) @ B.astype(np.float32) + C).all()


def test_a_product_of_many_fragments() -> None:
    random = np.random.default_rng(1)
    A, B = random.integers(-8, 9, (48, 32)).astype(np.float16), random.integers(-8, 9, (32, 24)).astype(np.float16)
    assert (fragment_matmul(A, B) == A.astype(np.float32) @ B.astype(np.float32)).all()


def test_a_half_precision_accumulator_stops_growing() -> None:
    """From 2,048 on, fp16 numbers lie 2 apart: adding 16 halves at a time still counts, one by one would not."""
    ones = np.ones(16 * 4096)
    assert dot(ones, ones) == 16 * 4096
    assert dot(ones, ones, np.float16) == 32768  # 32,768 + 16 lies half way between two fp16 numbers, and rounds down


def test_the_accumulator_decides_the_error() -> None:
    random = np.random.default_rng(0)
    x, y = random.standard_normal(4096), random.standard_normal(4096)
    exact = float(x.astype(np.float16).astype(float) @ y.astype(np.float16).astype(float))
    assert abs(dot(x, y, np.float16) - exact) > 10 * abs(dot(x, y) - exact)


def test_wrong_fragments_are_told_in_a_sentence() -> None:
    a, b, c = np.zeros((32, 8), np.float16), np.zeros((32, 4), np.float16), np.zeros((32, 4), np.float32)
    with pytest.raises(UsageError, match=r"\(32, 8\)"):
        mma_m16n8k16(b, b, c)
    with pytest.raises(UsageError, match="float16"):
        mma_m16n8k16(a.astype(np.float32), b, c)
    with pytest.raises(UsageError, match="accumulates"):
        mma_m16n8k16(a, b, c.astype(np.float64))
    with pytest.raises(UsageError, match="Cut it"):
        load_fragment(np.zeros((17, 16)), A_PLACES)
    with pytest.raises(UsageError, match="multiple of 16"):
        dot(np.zeros(3), np.zeros(3))
