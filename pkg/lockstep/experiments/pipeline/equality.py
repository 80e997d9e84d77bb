"""A pipeline computes what one rank does: the same gradients and the same weights, with every schedule.

Each case trains an MLP for two steps with momentum, in float64, on K ranks, and again on one. Nothing divides evenly:
23 examples in micro-batches of different sizes, and 9 layers on 1 to 8 stages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.experiments.pipeline.one_rank import stale, synchronous
from lockstep.pipeline.instructions import Stream, place
from lockstep.pipeline.schedules import stream, streams
from lockstep.pipeline.stages import chunk, chunks_of_stage, cuts
from lockstep.pipeline.worker import PipelineWorker
from lockstep.tables import Table
from lockstep.worlds import run

WIDTHS = (7, 6, 5, 8, 6, 7, 5, 6, 6, 3)
EXAMPLES, STEPS, RATE, MOMENTUM = 23, 2, 0.1, 0.9

State = dict[int, list[Tensor]]  # layer -> its last gradients and its parameters


class Case(NamedTuple):
    schedule: str
    micro_batches: int
    chunks: int = 1

    def possible(self, K: int) -> bool:
        """Whether the case can run on K stages."""
        return K * self.chunks <= len(WIDTHS) - 1 and (self.chunks == 1 or self.micro_batches % K == 0)

    def __str__(self) -> str:
        return self.schedule + (f", v = {self.chunks}" if self.chunks > 1 else "")


CASES = (
    Case("naive", 3),
    Case("gpipe", 1),
    Case("gpipe", 5),
    Case("gpipe, re-materialised", 5),
    Case("one_f_one_b", 5),
    Case("one_f_one_b", 12),
    Case("zb_h1", 5),
    Case("pipedream", 7),
    Case("interleaved", 6, 2),
    Case("interleaved", 8, 2),
    Case("interleaved", 6, 3),
)


def beside_one_rank(ranks: Sequence[int] = (1, 2, 3, 4, 8), on: str = "dgx-a100") -> list[dict[str, Any]]:
    """A row for each case and number of ranks: the largest difference of any gradient or weight from one rank's."""
    rows = []
    for K in ranks:
        cases = [case for case in CASES if case.possible(K)]
        result = run(beside, cases, ranks=K, on=on)
        for n, case in enumerate(cases):
            found = {index: state for mine, _ in result.values for index, state in mine[n].items()}
            wanted = result.values[0][1][n]
            row = {"schedule": str(case), "K": K, "m": case.micro_batches, "apart": furthest(found, wanted)}
            rows.append(row)
    return rows


def gradients_table(ranks: Sequence[int] = (1, 2, 3, 4, 8)) -> Table:
    """``beside_one_rank`` on the virtual cluster: a column for each number of ranks, and a dash where the schedule does
    not allow it."""
    apart = {(row["schedule"], row["m"], row["K"]): row["apart"] for row in beside_one_rank(ranks)}
    rows = [
        [name, str(m), *(f"{apart[name, m, K]:.0e}" if (name, m, K) in apart else "–" for K in ranks)]
        for name, m in dict.fromkeys((str(case), case.micro_batches) for case in CASES)
    ]
    head = ["schedule", "micro-batches", *(f"K = {K}" for K in ranks)]
    title = "Two steps in float64: the largest difference of any gradient or weight from one rank’s"
    return Table(f"{title} (pipedream: from one rank’s with weights as old)", head, rows)


def beside(cases: Sequence[Case]) -> tuple[list[State], list[State]]:
    """Runs on each rank: its part of each case, and on rank 0 also the one-rank run. (It runs there because a rank has
    torch's optimizers loaded, and a notebook may not.)"""
    K = dist.get_world_size()
    return all_cases(cases), [alone(case, K) for case in cases if dist.get_rank() == 0]


def all_cases(cases: Sequence[Case]) -> list[State]:
    """Runs on each rank: its part of each case."""
    return [trained(case) for case in cases]


def trained(case: Case, group: dist.ProcessGroup | None = None) -> State:
    stage, stages = dist.get_rank(group), dist.get_world_size(group)
    chunks, shapes = chunks_of_stage(WIDTHS, stage, stages, case.chunks, dtype=torch.float64)
    sgd = torch.optim.SGD([p for c in chunks for p in c.parameters()], RATE, MOMENTUM)
    worker = PipelineWorker(chunks, shapes, loss, sgd, group)
    todo: Stream = stream(case.schedule, stage, stages, case.micro_batches, case.chunks)
    inputs, targets = parts(case.micro_batches)
    for _ in range(STEPS):
        worker.step(todo, [len(x) for x in inputs], inputs, targets)
    layers = cuts(len(WIDTHS) - 1, stages * case.chunks)
    mine = [(layers[place(c, stage, stages)], module) for c, module in enumerate(chunks)]
    return {index: state for indices, module in mine for index, state in states(indices, module).items()}


def alone(case: Case, K: int) -> State:
    """The same case on one rank."""
    layers = cuts(len(WIDTHS) - 1, K * case.chunks)
    places = [chunk(WIDTHS, indices, dtype=torch.float64) for indices in layers]
    sgd = torch.optim.SGD([p for module in places for p in module.parameters()], RATE, MOMENTUM)
    if case.schedule == "pipedream":
        for _ in range(STEPS):
            stale(places, loss, sgd, streams("pipedream", K, case.micro_batches), *parts(case.micro_batches))
    else:
        synchronous(nn.Sequential(*places), loss, sgd, *batch(), STEPS)
    pairs = zip(layers, places, strict=True)
    return {index: state for indices, module in pairs for index, state in states(indices, module).items()}


def states(indices: range, module: nn.Sequential) -> State:
    linears = [layer for layer in module if isinstance(layer, nn.Linear)]
    return {
        index: [t.detach().clone() for p in layer.parameters() for t in (p.grad, p) if t is not None]
        for index, layer in zip(indices, linears, strict=True)
    }


def batch() -> tuple[Tensor, Tensor]:
    drawn = torch.Generator().manual_seed(1)
    x = torch.randn(EXAMPLES, WIDTHS[0], dtype=torch.float64, generator=drawn)
    return x, torch.randn(EXAMPLES, WIDTHS[-1], dtype=torch.float64, generator=drawn)


def parts(micro_batches: int) -> tuple[list[Tensor], list[Tensor]]:
    """The batch in micro-batches, whose sizes differ by at most one example."""
    x, target = batch()
    return list(x.tensor_split(micro_batches)), list(target.tensor_split(micro_batches))


def loss(output: Tensor, target: Tensor) -> Tensor:
    """The mean over the examples, so that a wrong weighting of micro-batches of different sizes shows."""
    return F.mse_loss(output, target)


def furthest(found: State, wanted: State) -> float:
    """The largest absolute difference of any number; infinite if a layer is missing."""
    if found.keys() != wanted.keys():
        return float("inf")
    pairs = [pair for index in wanted for pair in zip(found[index], wanted[index], strict=True)]
    return max((a - b).abs().max().item() for a, b in pairs)
