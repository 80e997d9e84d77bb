"""Which parameters are gathered at once? The notes' sample says nothing, so all of them are; and what wrapping changes.

    model = FSDP(model)                                     one unit: the whole model is gathered, and stays
    FSDP(model, auto_wrap_policy=ModuleWrapPolicy({nn.Linear}))     a unit a layer, and nothing is left for the root

In both it is torch's FullyShardedDataParallel, which the notes use, on the virtual cluster and without data. The root's
own unit stays whole from forward to backward, since the backward pass begins with it: so it is gathered once.
Source: Zhao et al., PyTorch FSDP (arXiv:2304.11277), sections 3.2.1 and 4.2.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributed.fsdp.wrap import ModuleWrapPolicy

from lockstep.experiments.fsdp.port_bytes import through_a_port
from lockstep.residency.stretch import peak_of
from lockstep.sharded.fsdp import FullySharded
from lockstep.tables import Table
from lockstep.worlds import run

RANKS, BATCH = 4, 32
DEEP, WIDTH, BY_UNITS = 8, 1024, (1, 2, 4, 8)  # layers, their width, into how many units they are wrapped

HEAD = ("", "MB of parameters held", "all-gathers a step", "MB through a port")

Wrapping = Callable[[nn.Module], nn.Module]


class Transformer(nn.Module):
    """The notes' model, in their words."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(1024, 4096)
        self.fc2 = nn.Linear(4096, 1024)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(torch.relu(self.fc1(x)))  # type: ignore[no-any-return]


class Held(NamedTuple):
    """MB of parameters at the worst moment of a step, all-gathers in it, and MB through a port."""

    parameters: float
    gathers: int
    port: float


def fsdp(model: nn.Module, **options: Any) -> nn.Module:
    warnings.filterwarnings("ignore", module="torch.distributed.fsdp")
    return FullyShardedDataParallel(model, device_id=torch.device("cpu"), **options)


LAYERS = ModuleWrapPolicy({nn.Linear})
SAMPLES: Mapping[str, Wrapping] = {
    "DDP": nn.parallel.DistributedDataParallel,
    "FSDP(model), as printed": fsdp,
    "a unit a layer": lambda model: fsdp(model, auto_wrap_policy=LAYERS),
    "a unit a layer, no prefetch": lambda model: fsdp(model, auto_wrap_policy=LAYERS, backward_prefetch=None),
}


def parameters_held(model: Callable[[], nn.Module], wrap: Wrapping) -> int:
    """On a rank: the most bytes of parameters in both passes of a step. (An update holds no more of them.)"""
    wrapped = wrap(model())
    with peak_of() as memory:
        x, target = torch.randn(2, BATCH, WIDTH)
        nn.MSELoss()(wrapped(x), target).backward()
        return memory().peaks["parameters"]


@cache
def held(model: Callable[[], nn.Module], wrap: Wrapping) -> Held:
    done = run(parameters_held, model, wrap, ranks=RANKS, on="dgx-a100", fake=True)
    gathers = sum(e.kind == "all_gather" and e.nbytes > 1000 for e in done.trace.of_rank(0))  # DDP compares a few bytes
    return Held(done.values[0] / 1e6, gathers, through_a_port(done.trace) / 1e6)


def notes_sample() -> Table:
    """The notes' sample as it is printed, with a unit a layer, and beside DDP."""
    rows = [[name, *_cells(held(Transformer, wrap))] for name, wrap in SAMPLES.items()]
    return Table(f"The notes’ model, 33.6 MB of parameters, on {RANKS} ranks", HEAD, rows)


def deep() -> nn.Module:
    return nn.Sequential(*[nn.Linear(WIDTH, WIDTH) for _ in range(DEEP)])


def in_units(units: int) -> Wrapping:
    """``units`` equal stretches of layers, each a unit; one is the model's own, and stays, as in the notes' sample."""

    def wrap(model: nn.Module) -> nn.Module:
        if units == 1:
            return FullySharded(model)
        layers = list(model.children())
        each = len(layers) // units
        return FullySharded(nn.Sequential(*layers[i : i + each]) for i in range(0, len(layers), each))

    return wrap


def by_units() -> Table:
    """One deep model, in fewer and in more units."""
    rows = [[f"{units}", *_cells(held(deep, in_units(units)))] for units in BY_UNITS]
    whole = sum(4 * p.numel() for p in deep().parameters()) / 1e6
    return Table(f"{DEEP} layers, {whole:.0f} MB of parameters, on {RANKS} ranks", ["units", *HEAD[1:]], rows)


def _cells(row: Held) -> list[str]:
    return [f"{row.parameters:.1f}", f"{row.gathers}", f"{row.port:.0f}"]
