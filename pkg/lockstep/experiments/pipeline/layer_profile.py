"""A profile of a model's layers, measured on a rank: the input to PipeDream's partitioner.

On the virtual cluster, ``run(profile, layers, x, ranks=1, on="dgx-a100")``, the seconds are those of the simulated
device. Elsewhere they are this machine's, medians of several passes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median

import torch
from torch import Tensor, nn

from lockstep.pipeline.stage_partition import Layer


def profile(layers: Sequence[nn.Module], x: Tensor, repeats: int = 3) -> list[Layer]:
    """Seconds, activation bytes and weight bytes of each layer, for the minibatch ``x`` through all of them."""
    rows = []
    for layer in layers:
        with torch.no_grad():
            y: Tensor = layer(x)
        seconds = median(there_and_back(layer, x) for _ in range(repeats))
        weights = sum(p.numel() * p.element_size() for p in layer.parameters())
        rows.append(Layer(seconds, y.numel() * y.element_size(), weights))
        x = y
    return rows


def there_and_back(layer: nn.Module, x: Tensor) -> float:
    """Seconds of a forward and a backward pass."""
    x = x.detach().requires_grad_(x.is_floating_point())
    begin = time.perf_counter()
    y: Tensor = layer(x)
    if y.requires_grad:
        y.backward(torch.ones_like(y))  # type: ignore[no-untyped-call]
    return time.perf_counter() - begin
