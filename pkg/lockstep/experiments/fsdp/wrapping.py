"""Which parameters are gathered at once: a layer's with torch's ``fully_shard`` on each, all in the notes' sample.

    for layer in model.children(): fully_shard(layer)       a unit a layer
    model = FSDP(model)                                     the notes': one unit, the whole model is gathered, and stays
    FSDP(model, auto_wrap_policy=ModuleWrapPolicy({nn.Linear}))     a unit a layer, and nothing is left for the root

The last two are torch's FullyShardedDataParallel, called FSDP1 since ``fully_shard`` is there, and deprecated by
PyTorch's tutorial (pytorch/tutorials, FSDP1_tutorial.rst). All run on the virtual cluster and without data. FSDP1's
root stays whole from forward to backward, since the backward pass begins with it: so it is gathered once. In the
backward pass FSDP1 gathers the next unit's parameters into place while one computes; ``fully_shard`` gathers them into
a buffer, which is copied when they are needed. So "MB in all" must stand beside the parameters.

Sources: Zhao et al., PyTorch FSDP (arXiv:2304.11277), sections 3.2.1 and 4.2; the docstring of ``fully_shard``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.fsdp.wrap import ModuleWrapPolicy

from lockstep.experiments.fsdp.port_bytes import through_a_port
from lockstep.residency.peak_memory import peak_of
from lockstep.sharded.fsdp import FullySharded
from lockstep.show.chart import Chart
from lockstep.show.curves import curves
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
    """MB of parameters at the worst moment of a step, all-gathers in it, MB through a port, and MB of everything at its
    worst moment."""

    parameters: float
    gathers: int
    port: float
    total: float


def fsdp(model: nn.Module, **options: Any) -> nn.Module:
    warnings.filterwarnings("ignore", module="torch.distributed.fsdp")
    return FullyShardedDataParallel(model, device_id=torch.device("cpu"), **options)


def by_layer(model: nn.Module) -> nn.Module:
    """``fully_shard`` on each layer, then on the model."""
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in model.children():
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model


LAYERS = ModuleWrapPolicy({nn.Linear})
SAMPLES: Mapping[str, Wrapping] = {
    "DDP": nn.parallel.DistributedDataParallel,
    "fully_shard on each layer": by_layer,
    "FSDP(model), as printed": fsdp,
    "FSDP1, a unit a layer": lambda model: fsdp(model, auto_wrap_policy=LAYERS),
    "… and no prefetch": lambda model: fsdp(model, auto_wrap_policy=LAYERS, backward_prefetch=None),
}


def parameters_held(model: Callable[[], nn.Module], wrap: Wrapping) -> tuple[int, int]:
    """On a rank: the most bytes of parameters in both passes of a step, and of everything. (An update holds no more of
    the former.)"""
    wrapped = wrap(model())
    with peak_of() as memory:
        x, target = torch.randn(2, BATCH, WIDTH)
        nn.MSELoss()(wrapped(x), target).backward()
        found = memory()
        return found.peaks["parameters"], found.peak


@cache
def held(model: Callable[[], nn.Module], wrap: Wrapping) -> Held:
    done = run(parameters_held, model, wrap, ranks=RANKS, on="dgx-a100", fake=True)
    gathers = sum(e.kind == "all_gather" and e.nbytes > 1000 for e in done.trace.of_rank(0))  # DDP compares a few bytes
    parameters, total = done.values[0]
    return Held(parameters / 1e6, gathers, through_a_port(done.trace) / 1e6, total / 1e6)


def notes_sample() -> Table:
    """The notes' sample as it is printed and with a unit a layer, compared with DDP and with ``fully_shard``."""
    found = {name: held(Transformer, wrap) for name, wrap in SAMPLES.items()}
    rows = [[name, *_cells(row), f"{row.total:.0f}"] for name, row in found.items()]
    return Table(f"The sample’s model, 33.6 MB of parameters, on {RANKS} ranks", [*HEAD, "MB in all"], rows)


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


def by_units_chart() -> Chart:
    """The same as curves: what a rank holds falls, what goes through its port rises."""
    found = {float(units): held(deep, in_units(units)) for units in BY_UNITS}
    whole = sum(4 * p.numel() for p in deep().parameters()) / 1e6
    lines = {
        "through a port in a step": {units: row.port for units, row in found.items()},
        "parameters held": {units: row.parameters for units, row in found.items()},
        "held with DDP": dict.fromkeys(found, whole),
    }
    head = f"{DEEP} layers, {whole:.0f} MB of parameters, on {RANKS} ranks"
    below = [units for units, row in found.items() if row.parameters < whole]
    return curves(lines, "units", "MB", head, spoken={"parameters held": below[0]} if below else None)


def _cells(row: Held) -> list[str]:
    return [f"{row.parameters:.1f}", f"{row.gathers}", f"{row.port:.0f}"]
