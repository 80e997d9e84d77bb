"""Column-parallel and row-parallel linear layers. The choice between them decides when ranks must communicate.

    X, A, b     input (..., n), weights (n, m), bias (m,); Y = X·A + b (..., m)
    K, r        ranks of the group, this one's number

    by columns   A = [A_0 A_1]          Y = [X·A_0 + b_0,  X·A_1 + b_1]        each rank has some of the outputs
                                        1 f: every rank uses all of X, so its gradient is a sum
    by rows      A = [A_0]  X = [X_0 X_1]   Y = X_0·A_0 + X_1·A_1 + b           each rank has a summand of all outputs
                     [A_1]                  2 g: the summands are added, before any nonlinearity; 3 b once, after it

A nonlinearity may follow columns directly, as each rank has final values of its part of [Y_0 Y_1]: GeLU([Y_0 Y_1]) is
[GeLU(Y_0) GeLU(Y_1)]. After rows it has to wait for 2: GeLU(X_0·A_0 + X_1·A_1) isn't GeLU(X_0·A_0) + GeLU(X_1·A_1).

torch stores a layer's weights as (outputs, inputs), so that columns of A are rows of ``weight``. Sizes that K doesn't
divide are cut as evenly as possible (``f_and_g.share``).
Source: Shoeybi et al., Megatron-LM, arXiv:1909.08053, section 3, equations 2 to 4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import Group, copy_to_region, gather_from_region, own, reduce_from_region

Which = slice | Tensor  # indices along a dimension: a range, or a list of them


class ColumnParallelLinear(nn.Module):
    """This rank's columns of ``linear``: (..., inputs), alike on all ranks, to (..., outputs/K).

    ``mine``: which outputs this rank has, if not its ``share``. ``gather_output``: to (..., outputs) on every rank, at
    the cost of another all-gather."""

    def __init__(
        self, linear: nn.Linear, group: Group = None, mine: Which | None = None, gather_output: bool = False
    ) -> None:
        super().__init__()
        self.outputs, self.group, self.gather_output = linear.out_features, group, gather_output
        mine = own(self.outputs, group) if mine is None else mine
        self.weight = taken(linear.weight[mine])  # (outputs/K, inputs)
        self.bias = taken(linear.bias[mine]) if has_bias(linear) else None  # (outputs/K,)

    def forward(self, x: Tensor) -> Tensor:
        y = F.linear(copy_to_region(x, self.group), self.weight, self.bias)  # 1
        return gather_from_region(y, self.outputs, group=self.group) if self.gather_output else y


class RowParallelLinear(nn.Module):
    """This rank's rows of ``linear``: (..., inputs/K), as a column-parallel layer outputs it, to (..., outputs), alike
    on all ranks. Every rank has the whole bias. ``mine``: which inputs this rank has, if not its ``share``."""

    def __init__(self, linear: nn.Linear, group: Group = None, mine: Which | None = None) -> None:
        super().__init__()
        self.group = group
        mine = own(linear.in_features, group) if mine is None else mine
        self.weight = taken(linear.weight[:, mine])  # (outputs, inputs/K)
        self.bias = taken(linear.bias) if has_bias(linear) else None  # (outputs,)

    def forward(self, x: Tensor) -> Tensor:
        y = reduce_from_region(F.linear(x, self.weight), self.group)  # 2
        return y if self.bias is None else y + self.bias  # 3


class ReplicatedNorm(nn.LayerNorm):
    """The whole ``norm`` on every rank: its input is the same everywhere, so its gradients are too, without
    communication."""

    def __init__(self, norm: nn.LayerNorm, group: Group = None) -> None:
        super().__init__(norm.normalized_shape, norm.eps, device="meta")
        self.group, self.weight, self.bias = group, taken(norm.weight), taken(norm.bias)


class Style(NamedTuple):
    """The kinds of layer that a block is built from. Each takes a serial layer and the group, and makes this rank's
    part of it."""

    column: Callable[..., nn.Module]
    row: Callable[..., nn.Module]
    norm: Callable[..., nn.Module]


PLAIN = Style(ColumnParallelLinear, RowParallelLinear, ReplicatedNorm)


def taken(tensor: Tensor) -> nn.Parameter:
    """A new parameter with a copy of ``tensor``: nothing keeps the layer that it was cut from alive."""
    return nn.Parameter(tensor.detach().clone(memory_format=torch.contiguous_format))


def has_bias(layer: nn.Linear) -> bool:
    bias: Tensor | None = layer.bias
    return bias is not None


def weight_gradients(x: Tensor, dy: Tensor, bias: bool) -> tuple[Tensor, Tensor | None]:
    """The gradients of weight and bias: (outputs, inputs) and (outputs,), from x (..., inputs) and dy (..., outputs).
    None for the bias if there is none."""
    rows = dy.flatten(0, -2)
    return rows.T @ x.flatten(0, -2), rows.sum(0) if bias else None
