"""torch's own program on a mesh, unchanged: tensor parallelism within FSDP2, beside unit 10's layers and an all-reduce.

    ours      columns, then rows, over tp; all gradients summed over dp after the backward pass
    torch's   ``parallelize_module`` over mesh["tp"], then ``fully_shard`` over mesh["dp"]: weights are gathered for
              each pass, gradients reduce-scattered

The network is two MLPs, each d to 4·d and back, around which nothing is residual. Both have the gradients of one rank.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from lockstep.experiments.hybrid.placed import bytes_sent
from lockstep.models import mlp
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.tensor_parallel.linear import ColumnParallelLinear, RowParallelLinear
from lockstep.worlds import run

WIDTH, BATCH, DP, TP = 32, 24, 2, 2
SIZES = (WIDTH, 4 * WIDTH, WIDTH, 4 * WIDTH, WIDTH)
CUT = {"0": "columns", "2": "rows", "4": "columns", "6": "rows"}


def network() -> nn.Sequential:
    return mlp(SIZES)


def batch() -> Tensor:
    return torch.randn(BATCH, WIDTH, generator=torch.Generator().manual_seed(1))


def theirs() -> list[Tensor]:
    """Runs on each rank, as it would on GPUs: the whole gradients."""
    mesh = init_device_mesh("cpu", (DP, TP), mesh_dim_names=("dp", "tp"))
    plan: dict[str, Any] = {n: ColwiseParallel() if cut == "columns" else RowwiseParallel() for n, cut in CUT.items()}
    model = network()
    parallelize_module(model, mesh["tp"], plan)
    for number in CUT:
        fully_shard(model[int(number)], mesh=mesh["dp"])
    fully_shard(model, mesh=mesh["dp"])
    loss_of(model(batch().chunk(DP)[mesh.get_local_rank("dp")])).backward()  # type: ignore[no-untyped-call]
    dist.barrier()
    return [p.grad.full_tensor() for p in model.parameters()]  # type: ignore[union-attr]


def ours() -> list[Tensor]:
    """Runs on each rank: this rank's parts of the gradients, after the sum over dp."""
    groups = [dist.new_group(ranks) for ranks in ([0, 1], [2, 3], [0, 2], [1, 3])]
    tp, dp = groups[dist.get_rank() // TP], groups[2 + dist.get_rank() % TP]
    model = network()
    for number, cut in CUT.items():
        layer = model[int(number)]
        assert isinstance(layer, nn.Linear)
        model[int(number)] = (ColumnParallelLinear if cut == "columns" else RowParallelLinear)(layer, tp)
    loss_of(model(batch().chunk(DP)[dist.get_rank(dp)])).backward()  # type: ignore[no-untyped-call]
    found = [p.grad for p in model.parameters() if p.grad is not None]
    flat = torch.cat([gradient.flatten() for gradient in found])
    dist.all_reduce(flat, group=dp)
    dist.barrier()
    pieces = torch.split(flat / DP, [gradient.numel() for gradient in found])
    return [
        whole(piece.view_as(gradient), n, tp) for n, (piece, gradient) in enumerate(zip(pieces, found, strict=True))
    ]


def whole(part: Tensor, number: int, tp: dist.ProcessGroup) -> Tensor:
    """A gradient from its parts. Parameters alternate: weight and bias of each layer."""
    is_columns, is_bias = number // 2 % 2 == 0, number % 2 == 1
    if is_bias and not is_columns:
        return part
    parts = [torch.empty_like(part) for _ in range(TP)]
    dist.all_gather(parts, part.contiguous(), group=tp)
    return torch.cat(parts, 0 if is_columns else 1)


def loss_of(output: Tensor) -> Tensor:
    return output.square().mean()


class Traffic(NamedTuple):
    """Of rank 0: (axis, collective) -> bytes sent, how many collectives; ``apart``: the largest difference between a
    gradient and that of one rank."""

    nbytes: Counter[tuple[str, str]]
    number: Counter[tuple[str, str]]
    apart: float


@cache
def traffic(which: str, on: str = "dgx-a100") -> Traffic:
    """``which``: "ours" or "torch's"."""
    result = run(ours if which == "ours" else theirs, ranks=DP * TP, on=on)
    serial = network()
    loss_of(serial(batch())).backward()  # type: ignore[no-untyped-call]
    wanted = [p.grad for p in serial.parameters() if p.grad is not None]
    apart = max((a - b).abs().max().item() for value in result.values for a, b in zip(value, wanted, strict=True))
    nbytes, number = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for e in result.trace.of_rank(0):
        if e.kind == "barrier":
            break
        if e.kind in ("all_reduce", "all_gather", "reduce_scatter"):
            key = "tp" if e.group == (0, 1) else "dp", e.kind
            nbytes[key] += round(bytes_sent(e))
            number[key] += 1
    return Traffic(nbytes, number, apart)


def torchs_own_table(on: str = "dgx-a100") -> Table:
    rows = []
    for which in counted(("ours", "torch's"), "Running", each=1.5):
        found = traffic(which, on)
        for n, key in enumerate(sorted(found.nbytes, reverse=True)):
            name = f"{which}, {found.apart:.0e} apart" if n == 0 else ""
            rows.append([name, key[0], key[1].replace("_", "-"), str(found.number[key]), f"{found.nbytes[key]:,}"])
        rows.append(["", "all", "", str(found.number.total()), f"{found.nbytes.total():,}"])
    head = ["", "axis", "collective", "number", "bytes sent"]
    told = "Two MLPs on a mesh of dp 2 × tp 2: what rank 0 sends, and how far gradients are apart from one rank's"
    return Table(told, head, rows)
