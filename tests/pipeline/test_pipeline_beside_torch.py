"""torch.distributed.pipelining on the same model: the same numbers, in the same messages."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from lockstep.experiments.pipeline.compared_with_torch import CHUNKS, STEPS, beside_torch, beside_torch_table

ROUNDING = 1e-15
SLOW = pytest.mark.slow


@pytest.mark.slow
@pytest.mark.parametrize(
    ("K", "on"), [pytest.param(2, "dgx-a100", marks=SLOW), (4, "dgx-a100"), pytest.param(2, "processes", marks=SLOW)]
)
def test_gradients_and_messages_are_torchs(K: int, on: str) -> None:
    rows = beside_torch((K,), on)
    assert [row["schedule"] for row in rows] == list(CHUNKS)
    for row in rows:
        assert row["from torch's"] <= ROUNDING, row
        assert row["from one rank"] <= ROUNDING, row
        assert row["sent"] == row["torch's sent"], row
        borders = K * CHUNKS[row["schedule"]] - 1
        assert row["sent"].number == STEPS * 2 * 4 * borders, row


@SLOW
def test_the_table_names_both() -> None:
    table = beside_torch_table((2,))
    assert table.head.count("torch's") == 2
    assert [row[0] for row in table.rows] == list(CHUNKS)


def test_pipe_is_gone_from_torch() -> None:
    """What the lecture notes import."""
    assert find_spec("torch.distributed.pipelining")
    assert find_spec("torch.distributed.pipeline") is None
