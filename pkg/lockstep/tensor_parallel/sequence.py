"""Sequence parallelism: between tensor-parallel regions each rank has T/K of the positions, not all of them.

                  T/K positions, all of h      T positions, a part of h       T/K positions, all of h
    x ──┬── norm ───────────── 1 all-gather ── attention ── 2 reduce-scatter ── + bias ──┐
        └────────────────────────────────────────────────────────────────────────────── + ── x'

              forward                 backward                  an all-reduce is a reduce-scatter and an all-gather:
    f         –                       all-reduce                2·(K-1)/K·n
    1         all-gather              reduce-scatter            (K-1)/K·n + (K-1)/K·n, as many bytes
    g         all-reduce              –
    2         reduce-scatter          all-gather

No longer replicated K times: the inputs of norms, the inputs of 1, and dropout masks. 1 outputs all T positions, and a
linear layer needs them again for the gradient of its weights. So (3) they are gathered once more in the backward pass:
an all-gather in addition to those of the table, which can overlap with the product for the gradient of the layer's
input. ``KEEPING`` keeps them instead: exactly the bytes of tensor parallelism, for one more activation in memory.

A norm's weights, and a bias added after 2, are used for the rank's own positions only: (4) their gradients are partial
sums. f, applied to the weight, adds them up. Without it K models drift slowly apart. (Megatron Core adds them up once,
at the end of the backward pass: ``finalize_model_grads``.)

Source: Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", arXiv:2205.05198, section
4.2.2, figures 5 and 6, equations 3 and 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import (
    Group,
    copy_to_region,
    gather_from_sequence,
    gathered,
    own,
    reduce_scatter_to_sequence,
    reduce_scattered,
)
from lockstep.tensor_parallel.linear import (
    ColumnParallelLinear,
    ReplicatedNorm,
    RowParallelLinear,
    Style,
    weight_gradients,
)
from lockstep.tensor_parallel.transformer import ParallelGPT

T = 1  # the dimension of positions


class SequenceColumn(ColumnParallelLinear):
    """(b, T/K, inputs) to (b, T, outputs/K)."""

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = GatheredLinear.apply(x, self.weight, self.bias, self.group)  # type: ignore[no-untyped-call]
        return y


class KeepingColumn(ColumnParallelLinear):
    """``SequenceColumn`` without 3: it keeps the gathered positions."""

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(gather_from_sequence(x, T, self.group), self.weight, self.bias)  # 1


class SequenceRow(RowParallelLinear):
    """(b, T, inputs/K) to (b, T/K, outputs)."""

    def forward(self, x: Tensor) -> Tensor:
        y = reduce_scatter_to_sequence(F.linear(x, self.weight), T, self.group)  # 2
        return y if self.bias is None else y + copy_to_region(self.bias, self.group)  # 4


class SequenceNorm(ReplicatedNorm):
    """(b, T/K, width) to the same shape."""

    def forward(self, x: Tensor) -> Tensor:
        weight, bias = (copy_to_region(p, self.group) for p in (self.weight, self.bias))  # 4
        return F.layer_norm(x, self.normalized_shape, weight, bias, self.eps)


SEQUENCE = Style(SequenceColumn, SequenceRow, SequenceNorm)
KEEPING = Style(KeepingColumn, SequenceRow, SequenceNorm)


class SequenceParallelGPT(ParallelGPT):
    """``ParallelGPT`` with T/K positions on each rank between its layers. K divides T."""

    def __init__(self, layers: Iterable[nn.Module], group: Group = None, style: Style = SEQUENCE) -> None:
        super().__init__(layers, group, style)
        self.token.leave = reduce_scatter_to_sequence

    def embedded(self, tokens: Tensor) -> Tensor:
        mine = own(tokens.shape[T], self.group)
        out: Tensor = self.token(tokens) + copy_to_region(self.position, self.group)[mine]  # 4
        return out


class GatheredLinear(torch.autograd.Function):
    """Y = X·A + b for an X whose positions are divided among the ranks; a rank keeps only its own."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, group: Group) -> Tensor:
        ctx.group = group
        ctx.save_for_backward(x, weight)
        return F.linear(_all_positions(x, group), weight, bias)  # 1

    @staticmethod
    def backward(ctx: Any, *dys: Tensor) -> Any:
        x, weight = ctx.saved_tensors
        (dy,) = dys
        dx = reduce_scattered(dy @ weight, T, ctx.group)
        dweight, dbias = weight_gradients(_all_positions(x, ctx.group), dy, ctx.needs_input_grad[2])  # 3
        return dx, dweight, dbias, None


def _all_positions(x: Tensor, group: Group) -> Tensor:
    return gathered(x, dist.get_world_size(group) * x.shape[T], T, group)
