"""What ranks hold and send is what ``cost.pipeline`` says, to the byte, by kind and from the trace."""

from __future__ import annotations

import pytest

from lockstep import run
from lockstep.cost.pipeline import MEASURED, resident, sent_bytes
from lockstep.errors import UsageError
from lockstep.experiments.pipeline.held import A, executed, memory_table, one_step, sent_table, told

SIZES = [
    (1, 3, 2),
    (2, 5, 2),
    (4, 3, 1),
    *(pytest.param(*size, marks=pytest.mark.slow) for size in [(2, 1, 1), (4, 8, 3)]),
]
SCALARS = 64  # bytes: the loss of a micro-batch, its share, their sum


@pytest.mark.sampled(3)
@pytest.mark.parametrize("schedule", MEASURED)
@pytest.mark.parametrize(("p", "m", "layers"), SIZES)
def test_resident_bytes_by_kind(schedule: str, p: int, m: int, layers: int) -> None:
    result = executed(schedule, p, m, layers)
    for s, memory in enumerate(result.memory):
        wanted, found = told(schedule, s, p, m, layers), memory.peaks
        assert found["parameters"] == wanted.parameters, s
        assert found["optimizer state"] == wanted.optimizer_state, s
        assert 0 <= found["gradients"] - wanted.gradients <= SCALARS, s
        assert 0 <= found["activations"] - wanted.activations <= SCALARS, s
        assert result.trace.sent(s).nbytes == sent_bytes(s, p, m, A), s


def test_interleaving_sends_v_times_as_much() -> None:
    result = executed("interleaved", 2, 4, 1, 3)
    assert [result.trace.sent(s).nbytes for s in (0, 1)] == [sent_bytes(s, 2, 4, A, 3) for s in (0, 1)]
    assert sent_bytes(0, 2, 4, A, 3) == 5 * sent_bytes(0, 2, 4, A)


def test_processes_hold_and_send_the_same() -> None:
    there, here = (run(one_step, "one_f_one_b", 4, 2, ranks=2, on=on) for on in ("dgx-a100", "processes"))
    assert [m.peaks for m in there.memory] == [m.peaks for m in here.memory]
    assert there.trace.counts() == here.trace.counts()


def test_what_has_no_formula_is_told() -> None:
    with pytest.raises(UsageError, match="no formula for stage 0 of 'zb_h1'"):
        resident("zb_h1", 0, 2, 2, 1, A, 1)


@pytest.mark.slow
def test_tables_stand_beside_their_formulas() -> None:
    memory = memory_table(2, 4, ["one_f_one_b"])
    assert [row[:2] for row in memory.rows] == [["one_f_one_b", "0"], ["", "1"]]
    assert all("(+0)" in cell for row in memory.rows for cell in row[2:5])
    sent = sent_table(2, 4)
    assert len(sent.rows) == len(MEASURED) + 3
    assert all(found == formula for _, found, formula in sent.rows)
