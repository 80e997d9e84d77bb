"""The course's tensor parallelism beside torch's parallelize_module: a training step each, on processes and gloo.

A block of a GPT (``tensor_parallel.block``; torch's has its queries, keys and values in three layers), the same batch
on every rank. As in `bench.ddp` the same model takes turns: a step of ours, one of torch's, and one of a rank that
holds the whole block and talks to nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import parallelize_module

from lockstep.bench.ddp import REPEATS
from lockstep.bench.table import Row, Table
from lockstep.bench.timing import Size
from lockstep.bench.turns import RANKS, RATIO, Seconds, Steps, crowded, measured, steps_of, times
from lockstep.experiments.tensor_parallel.compared_with_torch import Apart, plan
from lockstep.models import Block
from lockstep.tensor_parallel.block import ParallelBlock
from lockstep.tensor_parallel.linear import PLAIN, Style
from lockstep.tensor_parallel.sequence import KEEPING


class Case(NamedTuple):
    """Blocks of a width; examples and positions of the batch."""

    width: int
    blocks: int
    examples: int
    positions: int

    @property
    def model(self) -> list[Block]:
        return [Block(self.width, 8, 0, index) for index in range(self.blocks)]


SMALL, MANY, LARGE = Case(64, 2, 4, 16), Case(128, 8, 4, 32), Case(512, 2, 8, 64)
CASES: Mapping[Size, tuple[Case, ...]] = {
    "quick": (SMALL,),
    "normal": (SMALL, MANY, LARGE),
    "full": (SMALL, MANY, LARGE),
}


def tables(size: Size) -> list[Table]:
    return [table(ranks, size) for ranks in RANKS[size]]


def table(ranks: int, size: Size) -> Table:
    rows = [
        row(case, sequence, measured(wrapped(case, sequence, ranks), ranks, REPEATS[size]))
        for case in CASES[size]
        for sequence in (False, True)
    ]
    notes = [
        f"Medians of {REPEATS[size]} steps, in turn: the slowest rank's time. {RATIO} At most 1.5 is wanted.",
        "Sequence: positions lie in parts between the regions; whole: the model on one rank, with a rank's positions.",
    ]
    title = f"tensor: a training step of {ranks} ranks, ParallelBlock beside parallelize_module"
    return Table(title, rows, notes + crowded(ranks))


def row(case: Case, sequence: bool, found: Seconds) -> Row:
    size: Row = {"blocks": f"{case.blocks} of {case.width}", "sequence": "yes" if sequence else "no"}
    return {**size, **times(found)}


def wrapped(case: Case, sequence: bool, ranks: int) -> Steps:
    style = KEEPING if sequence else PLAIN
    models: Mapping[str, Callable[[], nn.Module]] = {
        "ours": lambda: in_ours(case, style),
        "torch's": lambda: in_torchs(case, sequence),
        "whole": lambda: nn.Sequential(*case.model),
    }
    positions = case.positions // ranks if sequence else case.positions
    return steps_of(models, (case.examples, positions, case.width))


def in_ours(case: Case, style: Style) -> nn.Module:
    return nn.Sequential(*(ParallelBlock(block, style=style) for block in case.model))


def in_torchs(case: Case, sequence: bool) -> nn.Module:
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    blocks = nn.Sequential(*(Apart(block) for block in case.model))
    styles = {name: style for name, style in plan(case.blocks, sequence).items() if name.startswith("*")}
    return parallelize_module(blocks, mesh, styles)
