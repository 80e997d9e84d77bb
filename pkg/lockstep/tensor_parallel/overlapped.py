"""Asynchronous tensor parallelism: all-reduces are split into chunks, and each overlaps with the next computation.

    by rows, forward         product 1 │ product 2    │ product 3    │                 1 an all-reduce for each chunk of
                                         all-reduce 1   all-reduce 2   all-reduce 3    the examples; the last one
                                                                                       overlaps with nothing
    by columns, backward     dX = dY·Aᵀ │ dA = Xᵀ·dY                                   2 dA is computed without waiting
                                          all-reduce of dX                             for dX

The sums are the same, and so are the bytes; the row-parallel layer has ``chunks`` times as many all-reduces, and each
costs its alpha. More chunks overlap more and cost more: ``chunk_table`` measures it in virtual time.

2 is Megatron's ``LinearWithGradAccumulationAndAsyncCommunication``; 1 is the idea of Wang et al., "Overlap
communication with dependent computation via decomposition in large deep learning models", ASPLOS 2023, and of PyTorch's
async tensor parallelism. On a GPU, communication takes cores and ports away from the computation; here it takes none.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.machines import Cluster
from lockstep.models import linear
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.tensor_parallel.across_nodes import nodes_of
from lockstep.tensor_parallel.f_and_g import Group
from lockstep.tensor_parallel.linear import (
    PLAIN,
    ColumnParallelLinear,
    ReplicatedNorm,
    RowParallelLinear,
    Style,
    Which,
    weight_gradients,
)
from lockstep.tensor_parallel.transformer import ParallelMLP
from lockstep.worlds import run


class OverlappedColumn(ColumnParallelLinear):
    """(..., inputs) to (..., outputs/K); the all-reduce of its backward pass overlaps with the weights' gradient."""

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = HidingColumn.apply(x, self.weight, self.bias, self.group)  # type: ignore[no-untyped-call]
        return y


class OverlappedRow(RowParallelLinear):
    """(n, ..., inputs/K) to (n, ..., outputs): the n examples go in ``chunks``, or one by one if they are fewer."""

    def __init__(self, linear: nn.Linear, group: Group = None, mine: Which | None = None, chunks: int = 4) -> None:
        super().__init__(linear, group, mine)
        self.chunks = chunks

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = ChunkedRow.apply(x, self.weight, min(self.chunks, len(x)), self.group)  # type: ignore[no-untyped-call]
        return y if self.bias is None else y + self.bias


OVERLAPPED = Style(OverlappedColumn, OverlappedRow, ReplicatedNorm)


class HidingColumn(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, group: Group) -> Tensor:
        ctx.group = group
        ctx.save_for_backward(x, weight)
        return F.linear(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, *dys: Tensor) -> Any:
        x, weight = ctx.saved_tensors
        (dy,) = dys
        dx = dy @ weight
        under_way = dist.all_reduce(dx, group=ctx.group, async_op=True)  # 2
        dweight, dbias = weight_gradients(x, dy, ctx.needs_input_grad[2])
        under_way.wait()
        return dx, dweight, dbias, None


class ChunkedRow(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, chunks: int, group: Group) -> Tensor:
        ctx.save_for_backward(x, weight)
        y, under_way = x.new_empty(*x.shape[:-1], len(weight)), []
        for part, of_x in zip(y.tensor_split(chunks), x.tensor_split(chunks), strict=True):
            torch.matmul(of_x, weight.T, out=part)
            under_way.append(dist.all_reduce(part, group=group, async_op=True))  # 1
        for work in under_way:
            work.wait()
        return y

    @staticmethod
    def backward(ctx: Any, *dys: Tensor) -> Any:
        x, weight = ctx.saved_tensors
        return dys[0] @ weight, weight_gradients(x, dys[0], False)[0], None, None


# ---- how much time it saves


class Pass(NamedTuple):
    """Seconds of a forward and of a backward pass, and all-reduces of both."""

    forward: float
    backward: float
    all_reduces: int


def passes(chunks: int, b: int, T: int, h: int) -> tuple[float, float]:
    """On a rank: an MLP in bfloat16, 4h wide inside. ``chunks`` 0: nothing overlaps."""
    up, down = linear(h, 4 * h, 0, 0, torch.bfloat16), linear(4 * h, h, 0, 1, torch.bfloat16)
    chunked = OVERLAPPED._replace(row=partial(OverlappedRow, chunks=chunks))
    model = ParallelMLP(up, down, style=chunked if chunks else PLAIN)
    x = torch.ones(b, T, h, dtype=torch.bfloat16, requires_grad=True)
    begin = time.perf_counter()
    out = model(x)
    between = time.perf_counter()
    out.backward(torch.ones_like(out))
    return between - begin, time.perf_counter() - between


def measured(chunks: int, on: Cluster, ranks: int = 8, b: int = 32, T: int = 512, h: int = 4096) -> Pass:
    """Such an MLP on ``ranks`` ranks of the virtual cluster, run without data (``fake``)."""
    done = run(passes, chunks, b, T, h, ranks=ranks, on=on, fake=True)
    forward, backward = done.values[0]
    return Pass(forward, backward, sum(e.kind == "all_reduce" for e in done.trace.of_rank(0)))


def chunk_table(ranks: int = 8, counts: Sequence[int] = (0, 1, 2, 4, 8, 16, 32), across: bool = True) -> Table:
    """An MLP in more and more chunks, where the ranks share a node, and, if ``across``, where each has its own."""
    places = {"in a node": ranks} | ({"a node each": 1} if across else {})
    rows = []
    for chunks in counted(counts, "Simulating", each=1.0 * len(places)):
        found = [measured(chunks, nodes_of(per_node), ranks) for per_node in places.values()]
        times = [f"{1e3 * seconds:.2f}" for one in found for seconds in one[:2]]
        rows.append([str(chunks) if chunks else "nothing overlaps", *times, str(found[0].all_reduces)])
    head = ["chunks", *(name for place in places for name in (f"forward, {place}", "backward")), "all-reduces"]
    return Table(f"An MLP, 32 x 512 tokens, 4096 wide, bfloat16, on {ranks} A100: milliseconds", head, rows)
