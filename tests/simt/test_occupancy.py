"""Occupancy, beside examples whose limits can be worked out by hand."""

from __future__ import annotations

import pytest

from lockstep.errors import UsageError
from lockstep.simt.occupancy import occupancy


def test_full_with_few_registers() -> None:
    """256 threads are 8 warps: 8 blocks fill the A100's 64 places."""
    found = occupancy(256, registers=32)
    assert (found.blocks, found.warps, found.share) == (8, 64, 1.0)
    assert found.limited_by == "warps"


def test_registers_run_out() -> None:
    """64 registers a thread: 2,048 a warp, 32 warps in 65,536 registers: half of the places."""
    assert (occupancy(256, registers=64).share, occupancy(256, registers=64).limited_by) == (0.5, "registers")


def test_small_blocks_run_into_the_number_of_blocks() -> None:
    found = occupancy(32, registers=32)
    assert (found.blocks, found.share, found.limited_by) == (32, 0.5, "blocks")


def test_shared_memory_runs_out() -> None:
    """48 KiB a block and one for the system: three of them in 164 KiB."""
    found = occupancy(128, registers=32, shared_bytes=48 * 1024)
    assert (found.blocks, found.limited_by) == (3, "shared memory")


def test_a_block_that_does_not_fit_at_all() -> None:
    assert occupancy(1024, registers=128).blocks == 0


@pytest.mark.parametrize("wrong", [{"threads": 0}, {"threads": 2048}, {"threads": 32, "registers": 300}])
def test_impossible_blocks_are_refused_in_a_sentence(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        occupancy(**wrong)


def test_an_unknown_gpu_names_the_known() -> None:
    with pytest.raises(UsageError, match=r"7\.5.*9\.0"):
        occupancy(32, capability="1.0")
