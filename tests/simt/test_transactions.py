"""What a request costs, against the sectors and banks of the CUDA manuals."""

import numpy as np
import pytest

from lockstep.simt.coalescing_and_bank_conflicts import sectors, wavefronts

LANE = np.arange(32)


@pytest.mark.parametrize(("stride", "moved"), [(0, 1), (1, 4), (2, 8), (4, 16), (8, 32), (32, 32)])
def test_sectors_of_float32_grow_with_the_stride(stride: int, moved: int) -> None:
    assert sectors(LANE * stride, 4)[0] == moved


@pytest.mark.parametrize(("itemsize", "moved"), [(1, 1), (2, 2), (4, 4), (8, 8), (16, 16)])
def test_neighbours_need_as_many_sectors_as_they_have_bytes(itemsize: int, moved: int) -> None:
    assert sectors(LANE, itemsize)[0] == moved
    assert sectors(LANE, itemsize)[1] == -(-32 * itemsize // 128)


def test_a_request_that_is_off_by_one_needs_a_sector_and_a_line_more() -> None:
    assert sectors(LANE + 32, 4) == (4, 1)
    assert sectors(LANE + 1, 4) == (5, 2)
    assert sectors(LANE + 33, 4) == (5, 2)
    assert sectors(LANE[::-1] + 1, 4) == (5, 2)  # the order of the lanes does not matter


@pytest.mark.parametrize(("stride", "waves"), [(0, 1), (1, 1), (2, 2), (3, 1), (4, 4), (16, 16), (32, 32), (33, 1)])
def test_bank_conflicts_are_the_common_divisor_of_stride_and_32(stride: int, waves: int) -> None:
    assert wavefronts(LANE * stride, LANE, 4) == waves
    if stride:
        assert waves == np.gcd(stride, 32)


def test_wide_items_are_served_half_a_warp_at_a_time() -> None:
    assert wavefronts(LANE, LANE, 8) == 2
    assert wavefronts(LANE * 2, LANE, 8) == 4
    assert wavefronts(LANE, LANE, 16) == 4
    assert wavefronts(LANE[:16], LANE[:16], 8) == 1


def test_narrow_items_share_their_words() -> None:
    assert wavefronts(LANE, LANE, 1) == 1
    assert wavefronts(LANE // 2 * 2, LANE, 2) == 1


def test_by_brute_force() -> None:
    """Random requests, counted by sets."""
    draw = np.random.default_rng(0)
    for _ in range(200):
        items = draw.integers(0, 3000, draw.integers(1, 33))
        assert sectors(items, 4) == (len({i * 4 // 32 for i in items}), len({i * 4 // 128 for i in items}))
        banks: dict[int, set[int]] = {}
        for item in items.tolist():
            banks.setdefault(item % 32, set()).add(item)
        assert wavefronts(items, LANE[: len(items)], 4) == max(map(len, banks.values()))
