"""Fragments: who owns which item, and that 32 of them make a matrix product."""

import numpy as np
import pytest

from lockstep.errors import UsageError
from lockstep.simt import tensor_core
from lockstep.simt.tensor_core import (
    A_PLACES,
    B_PLACES,
    C_PLACES,
    bfloat16,
    dot,
    load_fragment,
    mma_m16n8k16,
    store_fragment,
)


def owner(places: tensor_core.Places, rows: int, columns: int) -> np.ndarray:
    table = np.full((rows, columns), -1)
    table[places] = np.arange(32)[:, None]
    return table


def test_lanes_own_the_places_of_the_ptx_manual() -> None:
    a = owner(A_PLACES, 16, 16)
    assert a[0].tolist() == [0, 0, 1, 1, 2, 2, 3, 3] * 2
    assert a[9].tolist() == [4, 4, 5, 5, 6, 6, 7, 7] * 2
    b = owner(B_PLACES, 16, 8)
    assert b[:, 0].tolist() == [0, 0, 1, 1, 2, 2, 3, 3] * 2
    assert b[0].tolist() == [0, 4, 8, 12, 16, 20, 24, 28]
    c = owner(C_PLACES, 16, 8)
    assert c[7].tolist() == [28, 28, 29, 29, 30, 30, 31, 31]
    assert c[15].tolist() == c[7].tolist()


@pytest.mark.parametrize(("places", "shape"), [(A_PLACES, (16, 16)), (B_PLACES, (16, 8)), (C_PLACES, (16, 8))])
def test_every_item_has_one_owner_and_comes_back(places: tensor_core.Places, shape: tuple[int, int]) -> None:
    assert len(set(zip(*(axis.ravel().tolist() for axis in places), strict=True))) == places[0].size == np.prod(shape)
    matrix = np.arange(np.prod(shape)).reshape(shape)
    assert (store_fragment(load_fragment(matrix, places), places) == matrix).all()


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_a_warp_multiplies(kind: type) -> None:
    draw = np.random.default_rng(0)
    A, B = (draw.integers(-8, 8, shape).astype(np.float16) / 4 for shape in ((16, 16), (16, 8)))
    C = draw.integers(-8, 8, (16, 8)).astype(kind)
    d = mma_m16n8k16(load_fragment(A, A_PLACES), load_fragment(B, B_PLACES), load_fragment(C, C_PLACES))
    assert d.dtype == kind
    assert (store_fragment(d, C_PLACES) == A.astype(float) @ B.astype(float) + C).all()


def test_bfloat16_rounds_to_8_bits_and_ties_to_even() -> None:
    assert bfloat16(np.float32([1, 1 + 2**-7, 1 + 2**-8, 1 + 3 * 2**-8, 3e38])).tolist()[:4] == [
        1,
        1 + 2**-7,
        1,
        1 + 2**-6,
    ]
    import torch

    values = np.random.default_rng(1).standard_normal(1000).astype(np.float32)
    assert (bfloat16(values) == torch.from_numpy(values).bfloat16().float().numpy()).all()


def test_float16_accumulators_lose_what_float32_ones_keep() -> None:
    """The sum of many small products outgrows float16: 0.25 is lost on 1024, whose neighbour is 1025."""
    draw = np.random.default_rng(2)
    x, y = (draw.uniform(0, 1, 4096).astype(np.float16) for _ in range(2))
    exact = float(x.astype(float) @ y.astype(float))
    assert abs(dot(x, y, np.float32) - exact) < 1e-3
    assert abs(dot(x, y, np.float16) - exact) > 0.1


def test_pieces_that_do_not_fit_are_told() -> None:
    with pytest.raises(UsageError, match=r"of a matrix \(16, 8\), and yours is \(8, 8\)"):
        load_fragment(np.zeros((8, 8)), B_PLACES)
    with pytest.raises(UsageError, match=r"\(32, 8\), \(32, 4\) and \(32, 4\)"):
        mma_m16n8k16(np.zeros((32, 4)), np.zeros((32, 4)), np.zeros((32, 4)))
    with pytest.raises(UsageError, match="a multiple of 16"):
        dot(np.zeros(8), np.zeros(8))
