"""The worker compared with torch.distributed.pipelining: the same gradients, and the same bytes in the same messages.

``Pipe`` in ``torch.distributed.pipeline.sync``, which many texts still show, has been removed. Its replacement,
``torch.distributed.pipelining``, has a ``PipelineStage`` on each rank, and a schedule that is given all stages of its
rank.

Both train an MLP for two steps with momentum, in float64, on 24 examples in 4 micro-batches. torch's schedules require
micro-batches of equal size, since they divide gradients by their number; ours may differ (``equality``).

In its first step torch also sends the shape and the dtype of each activation: six short messages between two places.
Our worker is given the shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe, ScheduleInterleaved1F1B

from lockstep.events import Count, Trace
from lockstep.experiments.pipeline.equality import MOMENTUM, RATE, STEPS, WIDTHS, State, furthest, loss, states
from lockstep.experiments.pipeline.one_rank import synchronous
from lockstep.pipeline.instructions import place
from lockstep.pipeline.schedules import stream
from lockstep.pipeline.stages import chunk, chunks_of_stage, cuts
from lockstep.pipeline.worker import PipelineWorker
from lockstep.tables import Table
from lockstep.worlds import run

EXAMPLES, MICRO_BATCHES = 24, 4
SHORTEST = EXAMPLES // MICRO_BATCHES * min(WIDTHS[1:-1]) * 8  # bytes of an activation
CHUNKS: Mapping[str, int] = {"gpipe": 1, "one_f_one_b": 1, "interleaved": 2}


def beside_torch(ranks: Sequence[int] = (2, 4), on: str = "dgx-a100") -> list[dict[str, Any]]:
    """A row for each schedule and number of ranks: the largest difference of any gradient or weight from torch's run
    and from one rank's; the activations and gradients sent by all ranks, and the seconds, for ours and for torch's."""
    rows = []
    for K in ranks:
        for schedule, v in CHUNKS.items():
            ours, theirs = (run(program, schedule, v, ranks=K, on=on) for program in (trained, trained_by_torch))
            found, other = (merged(result.values) for result in (ours, theirs))
            rows.append(
                {
                    "schedule": schedule,
                    "K": K,
                    "from torch's": furthest(found, other),
                    "from one rank": furthest(found, alone()),
                    "sent": sent(ours.trace),
                    "torch's sent": sent(theirs.trace),
                    "torch's shapes": sent(theirs.trace, short=True),
                    "seconds": ours.time,
                    "torch's seconds": theirs.time,
                }
            )
    return rows


def beside_torch_table(ranks: Sequence[int] = (2, 4)) -> Table:
    """``beside_torch`` on the virtual cluster, as a table."""
    head = ["schedule", "K", "apart from torch's", "apart from one rank", "messages", "torch's", "bytes", "torch's"]
    rows = [
        [row["schedule"], str(row["K"]), *(f"{row[name]:.0e}" for name in ("from torch's", "from one rank")),
         *(f"{row[name][n]:,}" for n in (0, 1) for name in ("sent", "torch's sent"))]
        for row in beside_torch(ranks)
    ]  # fmt: skip
    return Table("The worker beside torch.distributed.pipelining: two steps with momentum, float64", head, rows)


def sent(trace: Trace, short: bool = False) -> Count:
    """The activations and gradients sent; or with ``short``, the messages that hold their shapes."""
    chosen = [e.nbytes for e in trace.of_kind("send") if (e.nbytes < SHORTEST) == short]
    return Count(len(chosen), sum(chosen))


def trained(schedule: str, v: int) -> State:
    """Runs on each rank: the training with our worker."""
    stage, stages = dist.get_rank(), dist.get_world_size()
    chunks, shapes = chunks_of_stage(WIDTHS, stage, stages, v, dtype=torch.float64)
    sgd = torch.optim.SGD([p for c in chunks for p in c.parameters()], RATE, MOMENTUM)
    worker, (x, target) = PipelineWorker(chunks, shapes, loss, sgd), batch()
    inputs, targets = x.chunk(MICRO_BATCHES), target.chunk(MICRO_BATCHES)
    for _ in range(STEPS):
        worker.step(stream(schedule, stage, stages, MICRO_BATCHES, v), [len(i) for i in inputs], inputs, targets)
    return of_stage(chunks, v)


def trained_by_torch(schedule: str, v: int) -> State:
    """Runs on each rank: the same with torch's pipeline."""
    stage, stages = dist.get_rank(), dist.get_world_size()
    chunks, _ = chunks_of_stage(WIDTHS, stage, stages, v, dtype=torch.float64)
    sgd = torch.optim.SGD([p for c in chunks for p in c.parameters()], RATE, MOMENTUM)
    step, (x, target) = torchs_step(schedule, chunks, loss, MICRO_BATCHES), batch()
    for _ in range(STEPS):
        sgd.zero_grad()
        step(x, target)
        sgd.step()
    return of_stage(chunks, v)


def torchs_step(
    schedule: str, chunks: Sequence[nn.Module], loss: Callable[[Tensor, Tensor], Tensor], micro_batches: int
) -> Callable[[Tensor, Tensor], None]:
    """A function of (x, target) that computes the gradients of one step with torch's pipeline."""
    stage, stages = dist.get_rank(), dist.get_world_size()
    places = stages * len(chunks)
    mine: list[Any] = [
        PipelineStage(module, place(c, stage, stages), places, torch.device("cpu")) for c, module in enumerate(chunks)
    ]
    if schedule == "interleaved":
        made: Any = ScheduleInterleaved1F1B(mine, micro_batches, loss)
    else:
        made = (ScheduleGPipe if schedule == "gpipe" else Schedule1F1B)(mine[0], micro_batches, loss)

    def step(x: Tensor, target: Tensor) -> None:
        inputs = (x,) if stage == 0 else ()
        made.step(*inputs, **({"target": target} if stage == stages - 1 else {}))

    return step


def of_stage(chunks: Sequence[nn.Sequential], v: int) -> State:
    stage, stages = dist.get_rank(), dist.get_world_size()
    layers = cuts(len(WIDTHS) - 1, stages * v)
    mine = [(layers[place(c, stage, stages)], module) for c, module in enumerate(chunks)]
    return {index: state for indices, module in mine for index, state in states(indices, module).items()}


def alone() -> State:
    whole = chunk(WIDTHS, range(len(WIDTHS) - 1), dtype=torch.float64)
    synchronous(whole, loss, torch.optim.SGD(whole.parameters(), RATE, MOMENTUM), *batch(), STEPS)
    return states(range(len(WIDTHS) - 1), whole)


def batch() -> tuple[Tensor, Tensor]:
    drawn = torch.Generator().manual_seed(1)
    x = torch.randn(EXAMPLES, WIDTHS[0], dtype=torch.float64, generator=drawn)
    return x, torch.randn(EXAMPLES, WIDTHS[-1], dtype=torch.float64, generator=drawn)


def merged(values: Sequence[State]) -> State:
    return {index: state for of_rank in values for index, state in of_rank.items()}
