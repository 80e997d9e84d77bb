"""Layers as one rank computes them, and what it computes instead by a mistake, by what is then to be said."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch.nn import functional as F


def norm_and_mlp(x: Tensor, weight: Tensor, bias: Tensor, A: Tensor, a: Tensor, B: Tensor, b: Tensor) -> Tensor:
    return x + F.gelu(F.layer_norm(x, x.shape[-1:], weight, bias) @ A + a) @ B + b


MISTAKEN_BLOCKS: Mapping[str, Callable[..., Tensor]] = {
    "Without the norm's weight and bias, that would be right.": lambda x, weight, bias, *mlp: norm_and_mlp(
        x, torch.ones_like(weight), torch.zeros_like(bias), *mlp
    ),
    "With norm(x) in place of x in the sum, that would be right.": lambda x, weight, bias, *mlp: (
        norm_and_mlp(x, weight, bias, *mlp) - x + F.layer_norm(x, x.shape[-1:], weight, bias)
    ),
    "Without GeLU, that would be right.": lambda x, weight, bias, A, a, B, b: (
        x + (F.layer_norm(x, x.shape[-1:], weight, bias) @ A + a) @ B + b
    ),
}


def convolutions(x: Tensor, V: Tensor, v: Tensor, W: Tensor, w: Tensor) -> Tensor:
    return F.conv2d(F.conv2d(x, V, v, padding=1).relu(), W, w, padding=1)


MISTAKEN_CONVOLUTIONS: Mapping[str, Callable[..., Tensor]] = {
    "Without ReLU, that would be right.": lambda x, V, v, W, w: F.conv2d(F.conv2d(x, V, v, padding=1), W, w, padding=1),
}
