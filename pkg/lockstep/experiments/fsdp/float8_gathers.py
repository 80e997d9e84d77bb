"""Parameters that are gathered in float8: a byte for each number of a matrix, under torch's ``fully_shard``.

``fully_shard`` asks a parameter that is a tensor of its own class what to gather (``fsdp_pre_all_gather``), and what to
make of it (``fsdp_post_all_gather``). torchao's float8 training does so for the weights of ``nn.Linear``, where
``Float8LinearConfig(enable_fsdp_float8_all_gather=True)``: it scales a weight by its largest number over all ranks, and
gathers ``torch.float8_e4m3fn`` (pytorch/ao, torchao/float8/fsdp_utils.py at commit 0a4b91d4). ``InFloat8`` is that, and
no more: here the weight becomes bfloat16 again, where torchao multiplies in float8. What travels is the same.

    gathered        1 byte for each number of a Linear's weight, 2 for all else; twice in a step
    reduced         gradients, as under any policy: 4 bytes
    scales          an all-reduce of one number for each weight and gather. torchao's
                    ``precompute_float8_dynamic_scale_for_fsdp`` makes it one for all weights, after the update
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.autograd.grad_mode import _unsafe_preserve_version_counter
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.utils._pytree import tree_map_only

from lockstep.datasets import library_text, text_batch
from lockstep.experiments.fsdp.port_bytes import through_a_port
from lockstep.experiments.fsdp.trainings import EXAMPLES, RANKS, SIZES, TEXT
from lockstep.experts.flops import OPT, OPT_CONTEXT, OPT_VOCABULARY
from lockstep.models import gpt_layers, next_token_loss
from lockstep.tables import Table
from lockstep.worlds import run

FLOAT8, HALF, FULL = torch.float8_e4m3fn, torch.bfloat16, torch.float32
aten: Any = torch.ops.aten
STAYS = {  # what ``fully_shard`` does to a parameter whose result is a parameter again
    aten.detach.default, aten.split.Tensor, aten.slice.Tensor, aten.new_zeros.default, aten.empty_like.default,
    aten.copy_.default, aten.view.default, aten.as_strided.default, aten._to_copy.default, aten.clone.default,
}  # fmt: skip


class InFloat8(Tensor):
    """A weight, or this rank's shard of one, that is gathered in float8. ``held`` has its numbers."""

    held: Tensor

    @staticmethod
    def __new__(cls, held: Tensor) -> InFloat8:
        made: InFloat8 = torch.Tensor._make_wrapper_subclass(
            cls, held.size(), strides=held.stride(), storage_offset=held.storage_offset(), dtype=held.dtype,
            device=held.device, requires_grad=held.requires_grad,
        )  # fmt: skip
        made.held = held
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        own = tree_map_only(InFloat8, lambda t: t.held, (args, kwargs or {}))
        out = func(*own[0], **own[1])
        return tree_map_only(Tensor, cls, out) if func in STAYS else out

    def fsdp_pre_all_gather(self, mesh: Any) -> tuple[tuple[Tensor], tuple[Tensor]]:
        """What is gathered, and what each rank needs to read it."""
        largest = self.held.abs().max()
        dist.all_reduce(largest, dist.ReduceOp.MAX, group=mesh.get_group())
        scale = torch.finfo(FLOAT8).max / largest
        return ((self.held * scale).to(FLOAT8),), (scale,)

    def fsdp_post_all_gather(
        self, gathered: tuple[Tensor], metadata: tuple[Tensor], param_dtype: torch.dtype, *, out: Tensor | None = None
    ) -> Any:
        """The whole weight, in ``param_dtype``; what holds it is freed and filled again with each gather."""
        whole = (gathered[0].to(FULL) / metadata[0]).to(param_dtype)
        if out is None:
            return whole, (whole,)
        with torch.no_grad(), _unsafe_preserve_version_counter(out):  # its numbers are what they were
            out.copy_(whole)
        return None


class Counted(NamedTuple):
    """Of a step: bytes a parameter that are gathered, and that a rank sends; and how often a rank calls all-reduce."""

    gathered: float
    sent: float
    all_reduces: int


def step(float8: bool) -> Tensor:
    """On a rank: the loss of a forward and a backward pass of the small GPT, a unit a layer."""
    model, mesh = nn.Sequential(), init_device_mesh("cpu", (dist.get_world_size(),))
    policy = MixedPrecisionPolicy(param_dtype=HALF, reduce_dtype=FULL)
    for layer in gpt_layers(**SIZES):
        for linear in linears(layer) if float8 else ():
            linear.weight = nn.Parameter(InFloat8(linear.weight.detach()))
        fully_shard(layer, mesh=mesh, mp_policy=policy)
        model.append(layer)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    text = library_text(TEXT) % SIZES["vocabulary"]
    x, y = (part.chunk(RANKS)[dist.get_rank()] for part in text_batch(text, EXAMPLES, SIZES["context"], 0))
    loss = next_token_loss(model(x).float(), y)
    loss.backward()  # type: ignore[no-untyped-call]
    return loss.detach()


def linears(model: nn.Module) -> list[nn.Linear]:
    return [m for m in model.modules() if isinstance(m, nn.Linear)]


@cache
def counted(float8: bool) -> Counted:
    trace, every = run(step, float8, ranks=RANKS, on="dgx-a100").trace, SMALL.all
    gathered, reduces = ([e for e in trace.of_rank(0) if e.kind == kind] for kind in ("all_gather", "all_reduce"))
    return Counted(sum(e.nbytes for e in gathered) / every, through_a_port(trace) / every, len(reduces))


class Shapes(NamedTuple):
    """A GPT (``models.GPT``), by its sizes."""

    vocabulary: int
    width: int
    layers: int
    context: int

    @property
    def in_linears(self) -> int:
        """Numbers in the weights of its Linears: of each block 12·width², and of the head."""
        return self.layers * 12 * self.width**2 + self.vocabulary * self.width

    @property
    def all(self) -> int:
        """Parameters: those, both embeddings, and of each block 9·width of biases and 4·width of norms; a last norm."""
        beside = self.vocabulary + self.context + self.layers * 13 + 2
        return self.in_linears + beside * self.width

    def gathered(self, bytes_in_linears: int) -> float:
        """Bytes a parameter in a step: gathered twice, and 2 bytes for whatever is not in a Linear's weight."""
        return 2 * (bytes_in_linears * self.in_linears + 2 * (self.all - self.in_linears)) / self.all


SMALL = Shapes(**SIZES)
LARGE = Shapes(vocabulary=OPT_VOCABULARY, width=OPT["175B"][1], layers=OPT["175B"][0], context=OPT_CONTEXT)


def float8_table() -> Table:
    """What bfloat16 and float8 gather: in a run of a small GPT, and by the shapes of that one, and of one as wide
    and deep as OPT-175B."""
    rows = []
    for told, float8, nbytes in (("bfloat16", False, 2), ("Linears’ weights in float8", True, 1)):
        row = counted(float8)
        numbers = row.gathered, SMALL.gathered(nbytes), LARGE.gathered(nbytes), row.sent
        rows.append([told, *(f"{n:.2f}" for n in numbers), f"{row.all_reduces}"])
    head = [
        "gathered in",
        "gathered, in the run",
        "by the shapes",
        "as large as OPT-175B, by the shapes",
        "sent by a rank, in the run",
    ]
    title = f"torch’s fully_shard, a unit a layer, {RANKS} ranks: bytes a parameter in a step"
    return Table(title, [*head, "all-reduces of a scale"], rows)
