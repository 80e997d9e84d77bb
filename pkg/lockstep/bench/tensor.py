"""The course's tensor parallelism against torch's parallelize_module: a training step each, on processes and gloo.

Blocks of a GPT (torch's have queries, keys and values in three layers), with the same batch on every rank. They take
turns: a step of ours, one of torch's, and one of a rank that holds the whole blocks and does not communicate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import parallelize_module

from lockstep.bench.table import Row, Table
from lockstep.bench.timing import Size
from lockstep.bench.training_steps import WANTED, Steps, by_size, compared, steps_of
from lockstep.experiments.tensor_parallel.compared_with_torch import Apart, plan
from lockstep.models import Block
from lockstep.tensor_parallel.linear import PLAIN
from lockstep.tensor_parallel.sequence import KEEPING
from lockstep.tensor_parallel.transformer import ParallelBlock


class Case(NamedTuple):
    """Blocks of a width; examples and positions of the batch; whether with sequence parallelism."""

    width: int
    blocks: int
    examples: int
    positions: int
    sequence: bool

    @property
    def model(self) -> list[Block]:
        return [Block(self.width, 8, 0, index) for index in range(self.blocks)]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of a rank's batch."""
        positions = self.positions // dist.get_world_size() if self.sequence else self.positions
        return self.examples, positions, self.width


SMALL, MANY, LARGE = (
    [Case(*sizes, sequence) for sequence in (False, True)]
    for sizes in ((64, 2, 4, 16), (128, 8, 4, 32), (512, 2, 8, 64))
)
CASES = by_size(quick=SMALL, otherwise=[*SMALL, *MANY, *LARGE])
LEGEND = "Sequence: positions lie in parts between the regions; whole: the model on one rank, with a rank's positions."


def tables(size: Size) -> list[Table]:
    title = "tensor: a training step of {ranks} ranks, ParallelBlock beside parallelize_module"
    return compared(size, title, CASES[size], columns, steps, [WANTED, LEGEND])


def columns(case: Case) -> Row:
    return {"blocks": f"{case.blocks} of {case.width}", "sequence": "yes" if case.sequence else "no"}


def steps(case: Case) -> Steps:
    style = KEEPING if case.sequence else PLAIN
    models: Mapping[str, Callable[[], nn.Module]] = {
        "ours": lambda: nn.Sequential(*(ParallelBlock(block, style=style) for block in case.model)),
        "torch's": lambda: in_torchs(case),
        "whole": lambda: nn.Sequential(*case.model),
    }
    return steps_of(models, lambda: case.shape)


def in_torchs(case: Case) -> nn.Module:
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    blocks = nn.Sequential(*(Apart(block) for block in case.model))
    styles = {name: style for name, style in plan(case.blocks, case.sequence).items() if name.startswith("*")}
    return parallelize_module(blocks, mesh, styles)
