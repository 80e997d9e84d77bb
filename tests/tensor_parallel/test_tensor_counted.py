"""The tables of a block's collectives."""

from __future__ import annotations

import pytest
import torch

from lockstep import run
from lockstep.experiments.tensor_parallel.collectives_of_a_block import STYLES, counted_table, mlp, rows_first


@pytest.mark.slow
def test_a_block_in_each_way() -> None:
    rows = {row[0]: row[1:] for row in counted_table().rows}
    assert list(rows) == list(STYLES)
    assert rows["tensor"] == ["2 all-reduce", "2 all-reduce", "3 n", "3 n"]
    assert rows["sequence"][0] == rows["sequence, gathered once"][0] == "2 all-gather, 2 reduce-scatter"
    assert rows["sequence"][1] == "6 all-reduce, 4 all-gather, 2 reduce-scatter"
    assert rows["sequence, gathered once"][1] == "6 all-reduce, 2 all-gather, 2 reduce-scatter"
    assert [row[2] for row in rows.values()] == ["3 n"] * 4


def test_rows_first_is_right_and_dear() -> None:
    """Two all-reduces of 4h and two gathers of h, instead of two all-reduces of h."""
    assert rows_first() == 4.5
    one, other = (run(mlp, order, ranks=3, on="dgx-a100").values[0] for order in (False, True))
    torch.testing.assert_close(one, other)
