"""Pipelines and data parallelism together: which of the two goes inside a machine, and which across?

The notes put the pipeline inside each machine, and data parallelism across machines. For models with many weights the
links ask for the opposite. Those inside are many times as fast, so inside goes what sends more:

    data parallelism   each rank sends 2(d-1)/d · P/p     its stage's gradients, however small the batch is, when all
                                                          backward passes are done: nothing hides them
    a pipeline         each rank sends m·A each way       activations and their gradients, micro-batch by micro-batch

    d   pipelines; p stages of each; P bytes of all parameters; m·A bytes of a layer's output for a pipeline's batch

A step of 4 pipelines of 4 stages is executed on two simulated machines of 8 GPUs, placed in both ways. The notes' way
wins where weights are few and batches large. (``cost.pipeline`` has the bytes; ``pipeline.training`` the step.)
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import torch.distributed as dist

from lockstep.experiments.pipeline.training import Flat, pipelined
from lockstep.tables import Table
from lockstep.worlds import run

SIDE = 4  # stages, and pipelines
MANY_WEIGHTS = Flat(layers=4, width=8192, batch=256, micro_batches=4)
FEW_WEIGHTS = Flat(layers=4, width=1024, batch=32768, micro_batches=4)
PLACEMENTS = ("pipeline inside, data across", "data inside, pipeline across")


class Placed(NamedTuple):
    placement: str
    seconds: float
    activations: float  # bytes that a rank in the middle sends in messages
    gradients: float  # bytes that each rank sends to average its gradients


def measured(flat: Flat | None = None, on: str = "dgx-a100", schedule: str = "one_f_one_b") -> list[Placed]:
    """One row for each placement. ``flat.batch`` is that of one pipeline; ``on`` has 8 ranks on a machine."""
    return _measured(flat or MANY_WEIGHTS, on, schedule)


@cache  # all arguments given: with one left out it would be another entry
def _measured(flat: Flat, on: str, schedule: str) -> list[Placed]:
    found = list[Placed]()
    for placement in PLACEMENTS:
        result = run(step, placement, flat, schedule, ranks=SIDE**2, on=on, fake=True)
        middle = SIDE if placement == PLACEMENTS[1] else 1  # stage 1 of pipeline 0
        reduced = sum(e.nbytes for e in result.trace.of_rank(middle) if e.kind == "all_reduce")
        sent = result.trace.sent(middle).nbytes
        found.append(Placed(placement, result.time, sent, 2 * (SIDE - 1) / SIDE * reduced))
    return found


def step(placement: str, flat: Flat, schedule: str) -> None:
    """On a rank: inside = rank mod 4, outside = rank // 4; machines have the outsides 0, 1 and 2, 3."""
    inside, outside = groups(dist.get_rank())
    stages, replicas = (inside, outside) if placement == PLACEMENTS[0] else (outside, inside)
    pipelined(schedule, flat, stages, replicas=replicas)


def groups(rank: int) -> tuple[dist.ProcessGroup, dist.ProcessGroup]:
    """The calling rank's group of neighbours, and that across machines. All ranks make all groups."""
    rows = [dist.new_group([SIDE * i + j for j in range(SIDE)]) for i in range(SIDE)]
    columns = [dist.new_group([SIDE * i + j for i in range(SIDE)]) for j in range(SIDE)]
    return rows[rank // SIDE], columns[rank % SIDE]


def placement_table(flat: Flat | None = None) -> Table:
    head = ["placement", "step", "activations a rank", "gradients a rank"]
    rows = [
        [p.placement, f"{p.seconds * 1e3:.1f} ms", f"{p.activations / 1e6:.0f} MB", f"{p.gradients / 1e6:.0f} MB"]
        for p in measured(flat)
    ]
    what = flat or MANY_WEIGHTS
    size = f"{what.parameter_bytes / 1e9:.2f} GB of weights, {what.batch:,} examples a pipeline"
    return Table(f"4 pipelines of 4 stages on two machines with 8 simulated A100 each: {size}", head, rows)
