"""What ranks hold and send is what ``cost.pipeline`` says, to the byte, by kind and from the trace."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist

from lockstep import run
from lockstep.cost.pipeline import MEASURED, resident, sent_bytes
from lockstep.errors import UsageError
from lockstep.pipeline.equality import loss
from lockstep.pipeline.schedules import stream
from lockstep.pipeline.stages import chunks_of_stage
from lockstep.pipeline.worker import PipelineWorker

WIDTH, EXAMPLES = 32, 16
A = 4 * WIDTH * EXAMPLES
SIZES = [
    (1, 3, 2),
    (2, 5, 2),
    (4, 3, 1),
    *(pytest.param(*size, marks=pytest.mark.slow) for size in [(2, 1, 1), (4, 8, 3)]),
]
SCALARS = 64  # bytes: the loss of a micro-batch, its share, their sum


def program(schedule: str, m: int, layers: int, v: int = 1) -> None:
    s, p = dist.get_rank(), dist.get_world_size()
    chunks, shapes = chunks_of_stage([WIDTH] * (layers * p * v + 1), s, p, v)
    sgd = torch.optim.SGD([w for c in chunks for w in c.parameters()], 0.1, 0.9)
    worker = PipelineWorker(chunks, shapes, loss, sgd)
    inputs = [torch.ones(EXAMPLES, WIDTH) for _ in range(m)] if s == 0 else []
    targets = [torch.zeros(EXAMPLES, WIDTH) for _ in range(m)] if s == p - 1 else []
    worker.step(stream(schedule, s, p, m, v), [EXAMPLES] * m, inputs, targets)


@pytest.mark.parametrize("schedule", MEASURED)
@pytest.mark.parametrize(("p", "m", "layers"), SIZES)
def test_resident_bytes_by_kind(schedule: str, p: int, m: int, layers: int) -> None:
    result = run(program, schedule, m, layers, ranks=p, on="dgx-a100")
    for s, memory in enumerate(result.memory):
        told = resident(schedule, s, p, m, layers, A, 4 * layers * (WIDTH * WIDTH + WIDTH))
        found = memory.peaks
        assert found["parameters"] == told.parameters, s
        assert found["optimizer state"] == told.optimizer_state, s
        assert 0 <= found["gradients"] - told.gradients <= SCALARS, s
        assert 0 <= found["activations"] - told.activations <= SCALARS, s
        assert result.trace.sent(s).nbytes == sent_bytes(s, p, m, A), s


def test_interleaving_sends_v_times_as_much() -> None:
    result = run(program, "interleaved", 4, 1, 3, ranks=2, on="dgx-a100")
    assert [result.trace.sent(s).nbytes for s in (0, 1)] == [sent_bytes(s, 2, 4, A, 3) for s in (0, 1)]
    assert sent_bytes(0, 2, 4, A, 3) == 5 * sent_bytes(0, 2, 4, A)


def test_processes_hold_and_send_the_same() -> None:
    there, here = (run(program, "one_f_one_b", 4, 2, ranks=2, on=on) for on in ("dgx-a100", "processes"))
    assert [m.peaks for m in there.memory] == [m.peaks for m in here.memory]
    assert there.trace.counts() == here.trace.counts()


def test_what_has_no_formula_is_told() -> None:
    with pytest.raises(UsageError, match="no formula for stage 0 of 'zb_h1'"):
        resident("zb_h1", 0, 2, 2, 1, A, 1)
