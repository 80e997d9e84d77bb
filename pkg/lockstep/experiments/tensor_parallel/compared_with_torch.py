"""ParallelGPT against torch's ``parallelize_module`` and one rank: the same gradients, and what each sends.

torch leaves the model as it is, and turns its parameters into DTensors by a plan: a style for each module's name.

    token                RowwiseParallel        VocabParallelEmbedding
    query, key, value    ColwiseParallel        ColumnParallelLinear, one for all three
    up, scores           ColwiseParallel        ColumnParallelLinear
    out, down            RowwiseParallel        RowParallelLinear
    norms                SequenceParallel       SequenceNorm, in sequence parallelism
    attention            PrepareModuleInput     f or its gather, once for three layers; without it there are three
    the loss             loss_parallel()        vocab_parallel_cross_entropy

A layer that makes queries, keys and values at once has to be split into three for it (``Apart``): a plan cuts a matrix
into equal parts, and rank 0 would get queries alone. torch keeps gathered inputs, as ``sequence.KEEPING`` does. Its
embedding is all-reduced here and then cut, since positions are added to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    PrepareModuleOutput,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)
from torch.nn import functional as F

from lockstep import models
from lockstep.events import Count
from lockstep.models import Block
from lockstep.residency import peak_of
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.tensor_parallel.attention import causal
from lockstep.tensor_parallel.sequence import KEEPING, SequenceParallelGPT
from lockstep.tensor_parallel.transformer import ParallelGPT
from lockstep.worlds import run

SIZES: dict[str, Any] = {"vocabulary": 16, "width": 16, "heads": 4, "layers": 2, "context": 8, "dtype": torch.float64}
EXAMPLES = 3

Trainable = tuple[nn.Module, Callable[[Tensor, Tensor], Any]]  # a model, and the loss of a batch with its backward pass


class Heads(nn.Module):
    """Attention with a layer each for queries, keys and values."""

    def __init__(self, block: Block) -> None:
        super().__init__()
        self.d = block.out.in_features // block.heads
        self.query, self.key, self.value = thirds(block.qkv)
        self.out = block.out

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = (
            layer(x).unflatten(-1, (-1, self.d)).transpose(1, 2) for layer in (self.query, self.key, self.value)
        )
        out: Tensor = self.out(causal(query, key, value).transpose(1, 2).flatten(2))
        return out


class Apart(nn.Module):
    """``block`` with its attention as ``Heads``."""

    def __init__(self, block: Block) -> None:
        super().__init__()
        self.before_attention, self.before_mlp = block.before_attention, block.before_mlp
        self.attention, self.up, self.down = Heads(block), block.up, block.down

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.before_attention(x))
        out: Tensor = x + self.down(F.gelu(self.up(self.before_mlp(x))))
        return out


def thirds(qkv: nn.Linear) -> Iterator[nn.Linear]:
    for weight, bias in zip(qkv.weight.chunk(3), qkv.bias.chunk(3), strict=True):
        layer = nn.Linear(qkv.in_features, len(bias), device="meta")
        layer.weight, layer.bias = (nn.Parameter(part.detach().clone()) for part in (weight, bias))
        yield layer


def apart(model: models.GPT) -> nn.Sequential:
    return nn.Sequential(*(Apart(layer) if isinstance(layer, Block) else layer for layer in model))


def plan(layers: int, sequence: bool) -> dict[str, Any]:
    """By the names of ``apart``'s modules. ``sequence``: positions lie in parts between the regions."""
    between = Shard(1) if sequence else Replicate()
    last = layers + 1
    styles: dict[str, Any] = {
        "0.token": RowwiseParallel(input_layouts=Replicate()),
        "*.attention": PrepareModuleInput(input_layouts=between, desired_input_layouts=Replicate()),
        **{f"*.attention.{name}": ColwiseParallel() for name in ("query", "key", "value")},
        "*.attention.out": RowwiseParallel(output_layouts=between),
        "*.up": ColwiseParallel(input_layouts=between),
        "*.down": RowwiseParallel(output_layouts=between),
        f"{last}.scores": ColwiseParallel(input_layouts=between, use_local_output=False),
    }
    if sequence:
        styles["0"] = PrepareModuleOutput(output_layouts=Replicate(), desired_output_layouts=Shard(1))
        norms = ("*.before_attention", "*.before_mlp", f"{last}.norm")
        styles |= {name: SequenceParallel() for name in norms}
    return styles


def torchs(model: models.GPT, sequence: bool = False) -> Trainable:
    """``model`` in torch's parts, on all ranks."""
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    cut = parallelize_module(apart(model), mesh, plan(len(model.blocks), sequence))

    def backward(x: Tensor, y: Tensor) -> Any:
        with loss_parallel():
            loss = F.cross_entropy(cut(x).flatten(0, 1), y.flatten())
            loss.backward()  # type: ignore[no-untyped-call]
        return loss

    return cut, backward


def ours(model: ParallelGPT) -> Trainable:
    return with_backward(model, model.loss)


def with_backward(model: nn.Module, loss: Callable[[Tensor, Tensor], Tensor]) -> Trainable:
    def backward(x: Tensor, y: Tensor) -> Tensor:
        found = loss(x, y)
        found.backward()  # type: ignore[no-untyped-call]
        return found

    return model, backward


METHODS: Mapping[str, Callable[[], Trainable]] = {
    "ParallelGPT": lambda: ours(ParallelGPT(models.GPT(**SIZES))),
    "parallelize_module": lambda: torchs(models.GPT(**SIZES)),
    "SequenceParallelGPT, gathered once": lambda: ours(SequenceParallelGPT(models.GPT(**SIZES), style=KEEPING)),
    "parallelize_module, sequence": lambda: torchs(models.GPT(**SIZES), sequence=True),
}
KINDS = ("all_reduce", "all_gather", "reduce_scatter")


class Beside(NamedTuple):
    """The largest difference of a gradient or of the loss from one rank's; what rank 0 sends in a step; the most bytes
    of activations that it holds."""

    method: str
    difference: float
    sent: Mapping[str, Count]
    activations: int


def beside_torch(K: int = 2, on: str = "dgx-a100") -> list[Beside]:
    return [beside(name, K, on) for name in counted(METHODS, "Training", each=2.0)]


def beside(name: str, K: int, on: str) -> Beside:
    """Twice: what is gathered to be looked at is in no count."""
    difference = max(run(apart_from_one_rank, name, ranks=K, on=on).values)
    built, stepped = (run(step, name, steps, ranks=K, on=on) for steps in (0, 1))
    before, after = (done.trace.counts() for done in (built, stepped))
    sent = {kind: _less(after.get((0, kind)), before.get((0, kind))) for kind in KINDS}
    return Beside(name, difference, sent, stepped.values[0])


def step(name: str, steps: int) -> int:
    """On a rank: bytes of activations, at most."""
    _, backward = METHODS[name]()
    x, y = batch()
    with peak_of() as memory:
        for _ in range(steps):
            backward(x, y)
        return memory().peaks["activations"]


def apart_from_one_rank(name: str) -> float:
    model, backward = METHODS[name]()
    serial, (x, y) = models.GPT(**SIZES), batch()
    found, wanted = backward(x, y), models.next_token_loss(serial(x), y)
    wanted.backward()  # type: ignore[no-untyped-call]
    pairs = [(whole(found), wanted)]
    for parameter in serial.parameters():
        parameter.data = gradient(parameter)
    if isinstance(model, ParallelGPT):
        cut = type(model)(iter(serial))
        pairs += [(gradient(p), q) for p, q in zip(model.parameters(), cut.parameters(), strict=True)]
    else:
        pairs += [(whole(gradient(p)), q) for p, q in zip(model.parameters(), apart(serial).parameters(), strict=True)]
    return max((a - b).abs().max().item() for a, b in pairs)


def whole(tensor: Any) -> Tensor:
    found: Tensor = tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor
    return found


def gradient(parameter: Tensor) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad


def batch() -> tuple[Tensor, Tensor]:
    tokens = torch.randint(
        SIZES["vocabulary"], (EXAMPLES, SIZES["context"] + 1), generator=torch.Generator().manual_seed(1)
    )
    return tokens[:, :-1], tokens[:, 1:]


def beside_torch_table(K: int = 2) -> Table:
    """``beside_torch`` in words."""
    rows = []
    for row in beside_torch(K):
        counts = [f"{count.number}: {count.nbytes / 1e3:.1f} kB" for count in row.sent.values()]
        rows.append([row.method, f"{row.difference:.0e}", *counts, f"{row.activations / 1e3:.1f}"])
    head = ["", "apart from one rank", "all-reduces", "all-gathers", "reduce-scatters", "kB of activations"]
    return Table(f"A step of a small GPT in float64 on {K} ranks", head, rows)


def _less(after: Count | None, before: Count | None) -> Count:
    (n, nbytes), (less, fewer) = after or (0, 0), before or (0, 0)
    return Count(n - less, nbytes - fewer)
