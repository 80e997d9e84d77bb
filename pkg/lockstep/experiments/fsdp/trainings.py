"""A small GPT, trained with each method of unit 08 and torch's: its losses, rank 0's memory and its traffic.

The text is the source of Python's own library, which every machine has. All methods take the same steps on the same
batches, of which each rank has its share: so the losses must be those of one rank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from lockstep.datasets import library_text, text_batch
from lockstep.events import Memory
from lockstep.experiments.fsdp.port_bytes import through_a_port
from lockstep.models import GPT, gpt_layers, next_token_loss, parameters_of
from lockstep.sharded.fsdp import FullySharded
from lockstep.sharded.hybrid import HybridSharded, node_groups
from lockstep.sharded.sharded_optimizer import ShardedOptimizer
from lockstep.sharded.zero import Zero
from lockstep.tables import Table
from lockstep.worlds import Result, run

SIZES: dict[str, Any] = {"vocabulary": 128, "width": 64, "layers": 6, "context": 16}
TEXT, EXAMPLES, STEPS, RATE, RANKS, BUCKET = 50_000, 8, 2, 1e-3, 4, 100_000
KEPT = ("parameters", "gradients", "optimizer state")

Step = Callable[[], None]


class Trained(NamedTuple):
    """A method's losses, step by step, means over all ranks; rank 0's memory; the bytes that it sends in a step."""

    method: str
    losses: Sequence[float]
    memory: Memory
    port: float


def adam(tensors: Iterable[Any]) -> torch.optim.Adam:
    return torch.optim.Adam(tensors, lr=RATE)


def zero(stage: int) -> tuple[nn.Module, Step, Step]:
    """A model, what clears its gradients, and what makes a step."""
    model = Zero(GPT(**SIZES), adam, stage, BUCKET)
    return model, model.zero_grad, model.step


def stepped(model: nn.Module, optimizer: Any = None) -> tuple[nn.Module, Step, Step]:
    optimizer = optimizer or adam(model.parameters())
    return model, optimizer.zero_grad, lambda: optimizer.step() and None


def hybrid() -> nn.Module:
    inside, across = node_groups(RANKS // 2)
    return HybridSharded(gpt_layers(**SIZES), inside=inside, across=across)


def torchs(nodes: int = 1) -> nn.Module:
    """With several nodes, the mesh has two dimensions: parameters are sharded along the last one, within a node."""
    mesh = init_device_mesh("cpu", (nodes, dist.get_world_size() // nodes), mesh_dim_names=("replicate", "shard"))
    if nodes == 1:
        mesh = mesh["shard"]
    model = nn.Sequential()
    for layer in gpt_layers(**SIZES):
        fully_shard(layer, mesh=mesh)
        model.append(layer)
    fully_shard(model, mesh=mesh)
    return model


METHODS: Mapping[str, Callable[[], tuple[nn.Module, Step, Step]]] = {
    "stage 0, DDP": lambda: zero(0),
    "stage 1": lambda: zero(1),
    "stage 2": lambda: zero(2),
    "stage 3, FSDP": lambda: stepped(FullySharded(gpt_layers(**SIZES))),
    "stage 1, in an optimizer": lambda: stepped(model := GPT(**SIZES), ShardedOptimizer(model.parameters(), adam)),
    "FSDP, one unit": lambda: stepped(FullySharded(GPT(**SIZES))),
    "hybrid, nodes of 2": lambda: stepped(hybrid()),
    "torch’s fully_shard": lambda: stepped(torchs()),
    "… on a mesh of 2 × 2": lambda: stepped(torchs(nodes=2)),
}
STAGES = tuple(METHODS)[:4]


def trained(method: str) -> list[Tensor]:
    """On a rank: the losses of ``STEPS`` steps, each the mean over all ranks."""
    text, ranks = library_text(TEXT) % SIZES["vocabulary"], dist.get_world_size()
    model, zero_grad, step = METHODS[method]()
    losses = []
    for number in range(STEPS):
        x, y = (part.chunk(ranks)[dist.get_rank()] for part in text_batch(text, EXAMPLES, SIZES["context"], number))
        zero_grad()
        loss = next_token_loss(model(x), y)
        loss.backward()  # type: ignore[no-untyped-call]
        step()
        losses.append(loss.detach())
    return losses


@cache
def training(method: str, ranks: int = RANKS) -> Trained:
    done = run(trained, method, ranks=ranks, on="dgx-a100")
    losses = [sum(of_step).item() / ranks for of_step in zip(*done.values, strict=True)]
    return Trained(method, losses, done.memory[0], through_a_port(done.trace) / STEPS)


def sawtooth() -> tuple[Result, float]:
    """A run whose memory goes up and down as units are gathered and freed, and when its second step begins: with few
    examples, so that it is mostly model states, and without prefetch, so that one unit is whole at a time."""
    done = run(_sawtooth, ranks=RANKS, on="dgx-a100")
    gathers = [e.posted for e in done.trace.of_rank(0) if e.kind == "all_gather"]
    return done, gathers[len(gathers) // 2]


def _sawtooth() -> None:
    model = FullySharded(gpt_layers(**SIZES | {"width": 128}), prefetch=False)
    optimizer, tokens = adam(model.parameters()), torch.arange(SIZES["context"]).unsqueeze(0)
    for _ in range(2):
        optimizer.zero_grad()
        next_token_loss(model(tokens), tokens).backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def port(method: str) -> float:
    """Bytes that a rank sends in a step."""
    return training(method).port


def stages_table(last: int = 3) -> Table:
    """The stages of ZeRO: bytes for each parameter of the model at rank 0's worst moment, and its traffic."""
    ddp = training(STAGES[0])
    rows = []
    for row in map(training, STAGES[: last + 1]):
        kept = [each(row.memory.at_peak[kind]) for kind in KEPT]
        rest = each(row.memory.peak - sum(row.memory.at_peak[kind] for kind in KEPT))
        rows.append([row.method, *(f"{n:.1f}" for n in (*kept, rest, each(row.memory.peak))),
                     f"{row.port / 1e6:.2f}", f"{row.port / ddp.port:.2f}"])  # fmt: skip
    head = ["", *KEPT, "rest", "sum", "MB through a port", "× DDP"]
    title = f"A GPT, float32 and Adam, {RANKS} ranks: bytes a parameter at the worst moment; MB of a step"
    return Table(title, head, rows)


def methods_table() -> Table:
    """All methods on the same text: do they train the same model?"""
    alone = training(STAGES[0], ranks=1)
    rows = [[*_told("one rank", alone)[:-2], "–", "–"], *(_told(name, training(name)) for name in METHODS)]
    head = ["", *(f"loss of step {n + 1}" for n in range(STEPS)), "bytes a parameter", "MB through a port"]
    return Table(f"A GPT on Python’s own source, {RANKS} ranks", head, rows)


def _told(name: str, row: Trained) -> list[str]:
    return [name, *(f"{loss:.5f}" for loss in row.losses), f"{each(row.memory.peak):.1f}", f"{row.port / 1e6:.2f}"]


def each(nbytes: int) -> float:
    """Bytes for each parameter of the model."""
    return nbytes / parameters()


@cache
def parameters() -> int:
    return parameters_of(GPT(**SIZES))
