"""What a rank sends in a step, by dtype: float32 DDP, and torch's ``fully_shard`` under three policies.

    DDP                                        2·(K-1)/K · 4 bytes of gradients
    fully_shard                                2·(K-1)/K · parameters, (K-1)/K · gradients, each in the policy's dtype

"1.5 times as much as DDP" holds where all dtypes are equal. ``MixedPrecisionPolicy(param_dtype=torch.bfloat16,
reduce_dtype=torch.float32)`` gathers 2 bytes twice and reduces 4 once: as much as float32 DDP. DDP with ``autocast``
sends what float32 DDP sends, since its parameters and gradients stay float32.

These are the defaults of torchtitan, PyTorch's own trainer: ``mixed_precision_param = "bfloat16"`` and
``mixed_precision_reduce = "float32"`` (pytorch/torchtitan, torchtitan/config/training.py at commit f204eb63).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

from lockstep.datasets import library_text, text_batch
from lockstep.experiments.fsdp.port_bytes import through_a_port
from lockstep.experiments.fsdp.trainings import EXAMPLES, RANKS, SIZES, TEXT, parameters
from lockstep.models import GPT, gpt_layers, next_token_loss
from lockstep.tables import Table
from lockstep.worlds import run

HALF, FULL = torch.bfloat16, torch.float32
POLICIES: Mapping[str, MixedPrecisionPolicy | None] = {
    "DDP, float32": None,
    "fully_shard, float32": MixedPrecisionPolicy(),
    "bfloat16, gradients reduced in float32": MixedPrecisionPolicy(param_dtype=HALF, reduce_dtype=FULL),
    "bfloat16 for both": MixedPrecisionPolicy(param_dtype=HALF),
}


class Sent(NamedTuple):
    """Bytes for each parameter of the model: of all tensors that are gathered, and reduced; and those that a rank
    sends."""

    gathered: float
    reduced: float
    sent: float


def step(way: str) -> None:
    """Runs on each rank: a forward and a backward pass of the small GPT, a unit a layer."""
    policy = POLICIES[way]
    if policy is None:
        model: nn.Module = nn.parallel.DistributedDataParallel(GPT(**SIZES))
    else:
        model, mesh = nn.Sequential(), init_device_mesh("cpu", (dist.get_world_size(),))
        for layer in gpt_layers(**SIZES):
            fully_shard(layer, mesh=mesh, mp_policy=policy)
            model.append(layer)
        fully_shard(model, mesh=mesh, mp_policy=policy)
    text = library_text(TEXT) % SIZES["vocabulary"]
    x, y = (part.chunk(RANKS)[dist.get_rank()] for part in text_batch(text, EXAMPLES, SIZES["context"], 0))
    next_token_loss(model(x).float(), y).backward()  # type: ignore[no-untyped-call]


@cache
def sent(way: str) -> Sent:
    trace = run(step, way, ranks=RANKS, on="dgx-a100").trace
    gathered, *reduced = (
        sum(e.nbytes for e in trace.of_rank(0) if e.kind == kind) / parameters()
        for kind in ("all_gather", "reduce_scatter", "all_reduce")
    )
    return Sent(gathered, sum(reduced), through_a_port(trace) / parameters())


def dtypes_table() -> Table:
    """What is gathered, reduced and sent under each policy."""
    rows, ddp = [], sent("DDP, float32").sent
    for way in POLICIES:
        row = sent(way)
        rows.append([way, *(f"{n:.1f}" for n in row), f"{row.sent / ddp:.2f}"])
    head = ["", "gathered", "reduced", "sent by a rank", "× float32 DDP"]
    return Table(f"torch’s DDP and fully_shard, a unit a layer, {RANKS} ranks: bytes a parameter in a step", head, rows)
