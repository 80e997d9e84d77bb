"""Asynchronous tensor parallelism: what travels is cut into chunks, and while one is under way the next is computed.

    by rows, forward         product 1 │ product 2    │ product 3    │                 1 an all-reduce for each chunk of
                                         all-reduce 1   all-reduce 2   all-reduce 3    the examples; the last one has
                                                                                       nothing to hide behind
    by columns, backward     dX = dY·Aᵀ │ dA = Xᵀ·dY                                   2 nobody waits for dX before
                                          all-reduce of dX                             computing dA

The sums are the same, and so are the bytes; the all-reduces by rows are ``chunks`` times as many, and each pays its
alpha. More chunks hide more and pay more: ``chunk_table`` measures it in virtual time.

2 is Megatron's ``LinearWithGradAccumulationAndAsyncCommunication``; 1 is the idea of Wang et al., "Overlap
communication with dependent computation via decomposition in large deep learning models", ASPLOS 2023, and of PyTorch's
async tensor parallelism. GPUs need cores and ports to spare for it; here communication takes none.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional as F

from lockstep.tensor.linear import ColumnParallelLinear, ReplicatedNorm, RowParallelLinear, Style, weight_gradients
from lockstep.tensor.regions import Group


class OverlappedColumn(ColumnParallelLinear):
    """(..., inputs) to (..., outputs/K); its backward pass hides the all-reduce."""

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = HidingColumn.apply(x, self.weight, self.bias, self.group)  # type: ignore[no-untyped-call]
        return y


class OverlappedRow(RowParallelLinear):
    """(n, ..., inputs/K) to (n, ..., outputs): the n examples go in ``chunks``, or one by one if they are fewer."""

    chunks = 4

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = ChunkedRow.apply(x, self.weight, self.chunks, self.group)  # type: ignore[no-untyped-call]
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
