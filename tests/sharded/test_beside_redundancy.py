"""Stage 1 beside torch's ZeroRedundancyOptimizer: the same parameters, parted and sent in another way."""

from __future__ import annotations

import pytest
import torch


@pytest.mark.slow
def test_the_same_parameters_by_other_parts_and_other_bytes() -> None:
    from lockstep.sharded.beside_redundancy import STEPS, redundancy  # a second of imports

    found = redundancy(4)
    (ours, state, sent), (torchs, their_state, theirs) = found["ours"], found["torch's"]
    torch.testing.assert_close(ours, torchs, rtol=0, atol=1e-6)
    numbers = sum(p.numel() for p in ours)
    assert len(set(state)) == 1
    assert 8 * numbers <= sum(state) <= 8 * numbers + 4 * (8 * 3 + 4), "padding, and a counter on each rank"
    largest = max(p.numel() for p in ours)
    assert max(their_state) >= 8 * largest > 1.5 * state[0], "a parameter is never cut"
    once = STEPS * 4 * numbers
    assert once <= sent["reduce_scatter"] == sent["all_gather"] <= once + STEPS * 4 * 3
    assert theirs["all_reduce"] == once
    assert theirs["broadcast"] >= once
    assert "all_reduce" not in sent


@pytest.mark.slow
def test_the_table() -> None:
    from lockstep.sharded.beside_redundancy import redundancy_table

    table = redundancy_table(2)
    assert [row[0] for row in table.rows] == ["ours", "torch's"]
    assert all(len(row) == len(table.head) == 1 + 2 + 4 for row in table.rows)
