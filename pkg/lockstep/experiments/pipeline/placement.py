"""Pipelines combined with data parallelism: which of the two goes inside a machine, and which across machines?

The lecture notes put the pipeline inside each machine and data parallelism across machines. For models with many
weights the network favours the opposite: links inside a machine are many times as fast, and whichever sends more should
use them:

    data parallelism   each rank sends 2(d-1)/d · P/p     its stage's gradients, whatever the batch, after all backward
                                                          passes: they are not overlapped with anything
    a pipeline         each rank sends m·A each way       activations and their gradients, micro-batch by micro-batch

    d   pipelines; p stages of each; P bytes of all parameters; m·A bytes of a layer's output for a pipeline's batch

One step of 4 pipelines of 4 stages is executed on two simulated machines with 8 GPUs each, with both placements. The
notes' placement is faster for few weights and large batches. (Bytes: ``cost.pipeline``; the step: ``training``.)
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
    activations: float  # bytes sent in messages by a rank of a middle stage
    gradients: float  # bytes sent by each rank to average its gradients


def measured(flat: Flat | None = None, on: str = "dgx-a100", schedule: str = "one_f_one_b") -> list[Placed]:
    """A row for each placement. ``flat.batch`` is the batch of one pipeline; ``on`` has 8 ranks per machine."""
    return _measured(flat or MANY_WEIGHTS, on, schedule)


@cache  # always called with all arguments: an omitted one would be a separate entry
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
    """Runs on each rank: inside = rank mod 4, outside = rank // 4; outsides 0 and 1 share a machine, and 2 and 3."""
    inside, outside = groups(dist.get_rank())
    stages, replicas = (inside, outside) if placement == PLACEMENTS[0] else (outside, inside)
    pipelined(schedule, flat, stages, replicas=replicas)


def groups(rank: int) -> tuple[dist.ProcessGroup, dist.ProcessGroup]:
    """The calling rank's group of neighbours, and its group across machines. All ranks create all groups."""
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
