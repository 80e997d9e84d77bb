"""Memory and traffic of each stage of a pipeline in one step, measured and compared with ``cost.pipeline``.

The model is an MLP of equal layers, so that every stage has the same number of bytes of each kind. A step runs with
data on the virtual cluster; memory is counted by kind, as it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import torch
import torch.distributed as dist
from torch.nn import functional as F

from lockstep.cost.pipeline import MEASURED, Resident, resident, sent_bytes
from lockstep.pipeline.schedules import stream
from lockstep.pipeline.stages import chunks_of_stage
from lockstep.pipeline.worker import PipelineWorker
from lockstep.tables import Table
from lockstep.worlds import Result, run

WIDTH, EXAMPLES = 32, 16  # of a layer; of a micro-batch
A = 4 * WIDTH * EXAMPLES  # bytes of an activation
KINDS = ("parameters", "gradients", "optimizer state", "activations")


def one_step(schedule: str, m: int, layers: int, v: int = 1) -> None:
    """Runs on each rank: a step with ``layers`` layers in each chunk."""
    s, p = dist.get_rank(), dist.get_world_size()
    chunks, shapes = chunks_of_stage([WIDTH] * (layers * p * v + 1), s, p, v)
    sgd = torch.optim.SGD([w for c in chunks for w in c.parameters()], 0.1, 0.9)
    worker = PipelineWorker(chunks, shapes, F.mse_loss, sgd)
    inputs = [torch.ones(EXAMPLES, WIDTH) for _ in range(m)] if s == 0 else []
    targets = [torch.zeros(EXAMPLES, WIDTH) for _ in range(m)] if s == p - 1 else []
    worker.step(stream(schedule, s, p, m, v), [EXAMPLES] * m, inputs, targets)


@cache
def executed(schedule: str, p: int, m: int, layers: int = 2, v: int = 1) -> Result:
    return run(one_step, schedule, m, layers, v, ranks=p, on="dgx-a100")


def told(schedule: str, s: int, p: int, m: int, layers: int = 2) -> Resident:
    """The formula's prediction for such a stage."""
    return resident(schedule, s, p, m, layers, A, 4 * layers * (WIDTH * WIDTH + WIDTH))


def memory_table(p: int = 4, m: int = 8, schedules: Sequence[str] = MEASURED) -> Table:
    """The peak of each kind of memory, measured and by the formula. (A difference is the losses: a few numbers.)"""
    rows = []
    for schedule in schedules:
        for s, memory in enumerate(executed(schedule, p, m).memory):
            found = [memory.peaks[kind] for kind in KINDS]
            cells = [f"{n:,} ({n - wanted:+,})" for n, wanted in zip(found, told(schedule, s, p, m), strict=True)]
            rows.append([schedule if s == 0 else "", str(s), *cells])
    title = (
        f"Bytes that a stage holds at its worst moment, p = {p}, m = {m} (in brackets: by how much the formula is off)"
    )
    return Table(title, ["schedule", "stage", *KINDS], rows)


def sent_table(p: int = 4, m: int = 8) -> Table:
    """Bytes sent by each stage, from the trace and by the formula; interleaved with two and with three chunks."""
    rows = []
    for schedule, v in [*((name, 1) for name in (*MEASURED, "zb_h1")), ("interleaved", 2), ("interleaved", 3)]:
        trace = executed(schedule, p, m, 1, v).trace
        found = [trace.sent(s).nbytes for s in range(p)]
        wanted = [sent_bytes(s, p, m, A, v) for s in range(p)]
        rows.append([schedule + (f", v = {v}" if v > 1 else ""), told_bytes(found), told_bytes(wanted)])
    return Table(f"Bytes that each stage sends in a step, p = {p}, m = {m}", ["schedule", "sent", "formula"], rows)


def told_bytes(of_stages: Sequence[float]) -> str:
    return ", ".join(f"{n:,.0f}" for n in of_stages)
