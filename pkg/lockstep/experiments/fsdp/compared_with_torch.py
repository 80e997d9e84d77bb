"""FullySharded against torch's ``fully_shard``, the older FullyShardedDataParallel and one rank: the same gradients,
the same collectives in the same order, and the memory that each takes.

Each program trains two steps with Adam, in float64, a unit a layer. All of them build and shard the layers one by one.
On CPU torch waits at once for what it sends, so that a gradient in flight is never in memory together with the next
one; ours are, as torch's are on GPUs. torch copies the gradients of parameters together before it sends them: these
copies count as its buffers.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard

from lockstep.events import Memory
from lockstep.models import linear
from lockstep.residency import peak_of
from lockstep.sharded.fsdp import FullySharded
from lockstep.tables import Table
from lockstep.worlds import run

SIZES = (16, 32, 32, 32, 8)  # widths: they divide by 1, 2, 4 and 8, or else torch pads every parameter, and we a unit
EXAMPLES, STEPS = 48, 2

Sent = list[tuple[str, int]]  # each collective in its order: kind and bytes


class Beside(NamedTuple):
    """A method on K ranks: the largest difference of any number from one rank's; what rank 0 sends in a step; its
    memory."""

    method: str
    difference: float
    sent: Sent
    memory: Memory


class Trained(NamedTuple):
    """The result of a rank: whole gradients and parameters; when its last step ended; its memory until then."""

    numbers: list[Tensor]
    end: float
    memory: Memory


def layers() -> Iterator[nn.Module]:
    """One after the other, the same numbers on every rank."""
    for index, (inputs, outputs) in enumerate(pairwise(SIZES)):
        yield linear(inputs, outputs, 0, index, torch.float64)
        yield nn.ReLU()


def newer() -> nn.Module:
    """FSDP2: the parameters become DTensors, sharded along their first dimension."""
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    model = nn.Sequential()
    for layer in layers():
        fully_shard(layer, mesh=mesh)
        model.append(layer)
    fully_shard(model, mesh=mesh)
    return model


def older() -> nn.Module:
    """FSDP1: a unit is a wrapper around a module, with a flat parameter, as in ours."""
    warnings.filterwarnings("ignore", module="torch.distributed.fsdp")
    options: dict[str, Any] = {"device_id": torch.device("cpu"), "use_orig_params": True}
    wrapped = (FullyShardedDataParallel(layer, **options) if list(layer.parameters()) else layer for layer in layers())
    return FullyShardedDataParallel(nn.Sequential(*wrapped), **options)


METHODS: Mapping[str, Callable[[], nn.Module]] = {
    "FullySharded": lambda: FullySharded(layers()),
    "FullySharded, prefetch=False": lambda: FullySharded(layers(), prefetch=False),
    "fully_shard": newer,
    "FullyShardedDataParallel": older,
    "one rank": lambda: nn.Sequential(*layers()),
}


def beside_torch(K: int = 4, on: str = "dgx-a100") -> list[Beside]:
    alone = run(trained, "one rank", ranks=1, on=on).values[0].numbers
    return [beside(name, K, on, alone) for name in METHODS if name != "one rank"]


def beside(name: str, K: int, on: str, alone: Sequence[Tensor]) -> Beside:
    """Run the comparison. Gathering the results is not counted."""
    result = run(trained, name, ranks=K, on=on)
    numbers = [of_rank.numbers for of_rank in result.values]
    difference = max((a - b).abs().max().item() for mine in numbers for a, b in zip(mine, alone, strict=True))
    _, end, memory = result.values[0]
    kinds = ("all_gather", "reduce_scatter")
    sent = [(e.kind, e.nbytes) for e in result.trace.of_rank(0) if e.kind in kinds and e.posted < end]
    return Beside(name, difference, sent[: len(sent) // STEPS], memory)


def trained(name: str) -> Trained:
    """On a rank: two steps; then, to be compared, the whole gradients of the last one, and the parameters after it. The
    virtual cluster's clock starts each run at 0."""
    with peak_of() as memory:
        model = METHODS[name]()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        share = batch().chunk(dist.get_world_size())[dist.get_rank()]
        for _ in range(STEPS):
            optimizer.zero_grad()
            model(share).square().mean().backward()
            optimizer.step()
        held, end = memory(), time.perf_counter()
    return Trained(whole(model), end, held)


def batch() -> Tensor:
    return torch.randn(EXAMPLES, SIZES[0], dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def whole(model: nn.Module) -> list[Tensor]:
    """The gradients, then the parameters, in the order of the model's parameters."""
    if isinstance(model, FullySharded):
        return [*model.full_gradients().values(), *model.full_state().values()]
    if isinstance(model, FullyShardedDataParallel):
        with FullyShardedDataParallel.summon_full_params(model, with_grads=True):
            return gradients_and_parameters(model)
    return gradients_and_parameters(model)


def gradients_and_parameters(model: nn.Module) -> list[Tensor]:
    parameters = list(model.parameters())
    tensors = [*(p.grad for p in parameters if p.grad is not None), *parameters]
    return [(t.full_tensor() if hasattr(t, "full_tensor") else t).detach().clone() for t in tensors]


def beside_torch_table(K: int = 4) -> Table:
    """`beside_torch` on K ranks, in words: few enough that a narrow window shows them all."""
    head = ["", "apart", "all-gathers", "reduce-scatters", "peak", "of parameters"]
    rows = []
    for row in beside_torch(K):
        counts = [[n for kind, n in row.sent if kind == wanted] for wanted in ("all_gather", "reduce_scatter")]
        peaks = (row.memory.peak, row.memory.peaks["parameters"])
        rows.append([row.method, f"{row.difference:.0e}", *(f"{len(n)}: {sum(n) / 1e3:.1f} kB" for n in counts),
                     *(f"{nbytes / 1e3:.1f} kB" for nbytes in peaks)])  # fmt: skip
    title = "how far apart from one rank; collectives of a step; the most that a rank holds"
    return Table(f"Two steps of Adam in float64 on {K} ranks, a unit a layer: {title}", head, rows)
