"""Tensor-parallel convolutions: cut by filters, as a layer by columns, or by input channels, as a layer by rows.

    X (b, C, y, x)    W (D, C, window): D filters of C channels    Y (b, D, y, x)

    by filters     W = [W_0; W_1], D/K each      1 f ── each rank makes some of Y's channels
    by channels    W = [W_0, W_1], C/K each      each rank makes a summand of all channels ── 2 g ── 3 bias, once

Filters, then channels, with operations in between that do not mix channels (ReLU, pooling, batch normalisation, whose
statistics are over examples and positions): one all-reduce forward, one backward, as in an MLP.

AlexNet was trained like this on two GPUs: half of the filters on each, with communication in layer 3 only (Krizhevsky
et al., "ImageNet classification with deep convolutional neural networks", 2012, section 3.5). In a ResNet activations
are large and weights few: there data parallelism sends less.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.errors import UsageError
from lockstep.tensor_parallel.f_and_g import Group, copy_to_region, gather_from_region, own, reduce_from_region
from lockstep.tensor_parallel.linear import ColumnParallelLinear, taken


class FilterParallelConv2d(nn.Module):
    """This rank's filters of ``conv``: (b, C, y, x), alike on all ranks, to (b, D/K, y, x); with ``gather_output`` to
    all of Y's channels on every rank. For ``groups=1`` only."""

    def __init__(self, conv: nn.Conv2d, group: Group = None, gather_output: bool = False) -> None:
        super().__init__()
        self.filters, self.group, self.gather_output, self.how = conv.out_channels, group, gather_output, options(conv)
        mine = own(conv.out_channels, group)
        self.weight = taken(conv.weight[mine])  # (D/K, C, window)
        self.bias = None if conv.bias is None else taken(conv.bias[mine])  # (D/K,)

    def forward(self, x: Tensor) -> Tensor:
        y = F.conv2d(copy_to_region(x, self.group), self.weight, self.bias, **self.how)  # 1
        return gather_from_region(y, self.filters, 1, self.group) if self.gather_output else y


class ChannelParallelConv2d(nn.Module):
    """This rank's input channels of ``conv``: (b, C/K, y, x) to (b, D, y, x), alike on all ranks."""

    def __init__(self, conv: nn.Conv2d, group: Group = None) -> None:
        super().__init__()
        self.group, self.how = group, options(conv)
        self.weight = taken(conv.weight[:, own(conv.in_channels, group)])  # (D, C/K, window)
        self.bias = None if conv.bias is None else taken(conv.bias)  # (D,)

    def forward(self, x: Tensor) -> Tensor:
        y = reduce_from_region(F.conv2d(x, self.weight, None, **self.how), self.group)  # 2
        return y if self.bias is None else y + self.bias[:, None, None]  # 3


class ParallelConvnet(nn.Sequential):
    """This rank's part of ``models.small_convnet``: its two convolutions by filters and by channels, the linear layer
    by columns. (b, 1, 8, 8) to (b, 10), alike on all ranks."""

    def __init__(self, convnet: nn.Sequential, group: Group = None) -> None:
        first, relu, pool, second, *_, flatten, last = convnet
        assert isinstance(first, nn.Conv2d)
        assert isinstance(second, nn.Conv2d)
        assert isinstance(last, nn.Linear)
        super().__init__(
            FilterParallelConv2d(first, group), relu, pool, ChannelParallelConv2d(second, group), relu, pool,
            flatten, ColumnParallelLinear(last, group, gather_output=True),
        )  # fmt: skip


def options(conv: nn.Conv2d) -> dict[str, Any]:
    """The keyword arguments for ``F.conv2d``. Raises UsageError for a grouped convolution."""
    if conv.groups != 1:
        raise UsageError("A convolution in groups is cut by its groups.", "Give each rank some of the groups.")
    return {"stride": conv.stride, "padding": conv.padding, "dilation": conv.dilation}
