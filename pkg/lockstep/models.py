"""Small models with reproducible initialization: MLPs, a convnet, tied weights, a GPT.

Each layer initializes its parameters from its own generator, seeded by the model's seed and the layer's index. So two
ranks that build the same model have bitwise equal parameters, a rank that builds only some of the layers gets the same
ones, and the program's own random number stream is not advanced.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.errors import UsageError

Layer = TypeVar("Layer", bound=nn.Module)


def mlp(sizes: Sequence[int], seed: int = 0, dtype: torch.dtype = torch.float32) -> nn.Sequential:
    """Linear layers with ReLU between them: ``mlp([64, 32, 10])`` maps (n, 64) to (n, 10)."""
    layers: list[nn.Module] = []
    for index, (inputs, outputs) in enumerate(pairwise(sizes)):
        layers += [linear(inputs, outputs, seed, index, dtype), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def batch_normed(sizes: Sequence[int], seed: int = 0, dtype: torch.dtype = torch.float32) -> nn.Sequential:
    """An ``mlp`` with batch normalization before each ReLU: an example's output depends on the rest of its batch."""
    layers: list[nn.Module] = []
    for index, (inputs, outputs) in enumerate(pairwise(sizes)):
        layers += [linear(inputs, outputs, seed, index, dtype), nn.BatchNorm1d(outputs, dtype=dtype), nn.ReLU()]
    return nn.Sequential(*layers[:-2])


def small_convnet(seed: int = 0, dtype: torch.dtype = torch.float32) -> nn.Sequential:
    """A CNN for images of 8 x 8 pixels: (n, 1, 8, 8) to logits of ten digits, (n, 10). 1,898 parameters."""
    return nn.Sequential(
        _drawn(nn.Conv2d(1, 8, kernel_size=3, padding=1, dtype=dtype, device="meta"), seed, 0),
        nn.ReLU(),
        nn.MaxPool2d(2),
        _drawn(nn.Conv2d(8, 16, kernel_size=3, padding=1, dtype=dtype, device="meta"), seed, 1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        linear(64, 10, seed, 2, dtype),
    )


class Tied(nn.Module):
    """An autoencoder with tied weights: ``relu(x @ W.T) @ W``. The gradient of W is the sum over both uses."""

    def __init__(self, width: int, seed: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight = linear(width, max(1, width // 2), seed, 0, dtype).weight

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x @ self.weight.T) @ self.weight


def tied(width: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tied:
    """An autoencoder whose encoder and decoder share their weights: (n, width) to (n, width), with a bottleneck of
    width // 2."""
    return Tied(width, seed, dtype)


class Embedding(nn.Module):
    """Layer 0 of a ``GPT``: token and position embeddings. (batch, T) integers to (batch, T, width)."""

    def __init__(self, vocabulary: int, context: int, width: int, seed: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.token = nn.Embedding(vocabulary, width, dtype=dtype, device="meta")
        self.position = nn.Embedding(context, width, dtype=dtype, device="meta")
        _drawn_in_turn(self, seed, 0)

    def forward(self, tokens: Tensor) -> Tensor:
        positions = torch.arange(tokens.shape[-1], device=tokens.device)
        meant: Tensor = self.token(tokens) + self.position(positions)
        return meant


class Block(nn.Module):
    """A pre-norm transformer block: causal self-attention, then an MLP of 4·width, each with a residual connection.

    (batch, T, width) to the same shape."""

    def __init__(self, width: int, heads: int, seed: int, index: int, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        how: dict[str, Any] = {"dtype": dtype, "device": "meta"}
        self.heads = heads
        self.before_attention, self.before_mlp = nn.LayerNorm(width, **how), nn.LayerNorm(width, **how)
        self.qkv, self.out = nn.Linear(width, 3 * width, **how), nn.Linear(width, width, **how)
        self.up, self.down = nn.Linear(width, 4 * width, **how), nn.Linear(4 * width, width, **how)
        _drawn_in_turn(self, seed, index)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.out(self._attention(self.before_attention(x)))
        out: Tensor = x + self.down(F.gelu(self.up(self.before_mlp(x))))
        return out

    def _attention(self, x: Tensor) -> Tensor:
        query, key, value = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2)  # (batch, heads, T, width / heads)
            for part in self.qkv(x).chunk(3, dim=-1)
        )
        return F.scaled_dot_product_attention(query, key, value, is_causal=True).transpose(1, 2).flatten(2)


class Head(nn.Module):
    """The last layer of a ``GPT``: logits of the next token. (batch, T, width) to (batch, T, vocabulary)."""

    def __init__(self, width: int, vocabulary: int, seed: int, index: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width, dtype=dtype, device="meta")
        self.scores = nn.Linear(width, vocabulary, bias=False, dtype=dtype, device="meta")
        _drawn_in_turn(self, seed, index)

    def forward(self, x: Tensor) -> Tensor:
        scores: Tensor = self.scores(self.norm(x))
        return scores


def gpt_layers(
    vocabulary: int = 256, width: int = 64, heads: int = 4, layers: int = 2, context: int = 64,
    seed: int = 0, dtype: torch.dtype = torch.float32,
) -> Iterator[nn.Module]:  # fmt: skip
    """The ``layers + 2`` layers of a ``GPT`` in order, each built lazily."""
    if min(vocabulary, width, heads, context) < 1 or layers < 0 or width % heads:
        raise UsageError(
            f"There is no GPT of width {width} with {heads} heads, {layers} layers, a vocabulary of {vocabulary} "
            f"and a context of {context}.", "All are 1 or more, and the heads divide the width.",
        )  # fmt: skip
    yield Embedding(vocabulary, context, width, seed, dtype)
    for index in range(1, layers + 1):
        yield Block(width, heads, seed, index, dtype)
    yield Head(width, vocabulary, seed, layers + 1, dtype)


class GPT(nn.Sequential):
    """A decoder-only transformer: an embedding, ``layers`` blocks and a head, as a sequence of ``layers + 2`` layers.

    It maps (batch, T) integers below ``vocabulary``, T at most ``context``, to the logits of each next token, (batch,
    T, vocabulary). Layer i built by itself, ``Block(width, heads, seed, i)``, has the same parameters as in the model.
    There is no dropout, and embedding and head are not tied, so that each layer can be placed on a different rank.

    Source: Radford et al., "Language models are unsupervised multitask learners", 2019 (GPT-2), section 2.3. Matrices
    are uniform in ±1/sqrt(width), which at GPT-2's width of 768 has its standard deviation of 0.02. Raises UsageError
    for invalid sizes."""

    def __init__(
        self, vocabulary: int = 256, width: int = 64, heads: int = 4, layers: int = 2, context: int = 64,
        seed: int = 0, dtype: torch.dtype = torch.float32,
    ) -> None:  # fmt: skip
        super().__init__(*gpt_layers(vocabulary, width, heads, layers, context, seed, dtype))

    @property
    def blocks(self) -> list[nn.Module]:
        """All layers but the embedding and the head."""
        return list(self)[1:-1]


def next_token_loss(scores: Tensor, tokens: Tensor) -> Tensor:
    """The mean cross-entropy of ``scores`` (batch, T, vocabulary) for the true ``tokens`` (batch, T), in nats."""
    return F.cross_entropy(scores.flatten(0, 1), tokens.flatten())


def linear(inputs: int, outputs: int, seed: int, index: int, dtype: torch.dtype = torch.float32) -> nn.Linear:
    """The linear layer number ``index`` of the model with that seed."""
    return _drawn(nn.Linear(inputs, outputs, dtype=dtype, device="meta"), seed, index)


def parameters_of(model: nn.Module) -> int:
    """The number of parameters; shared ones count once."""
    return sum(p.numel() for p in model.parameters())


def _drawn(layer: Layer, seed: int, index: int) -> Layer:
    """Initialize ``layer``, which is on the meta device, uniformly in ±1/sqrt(fan-in), as torch does by default."""
    layer.to_empty(device="cpu")
    generator = torch.Generator().manual_seed(seed * 1_000 + index)
    bound = 1 / math.sqrt(next(layer.parameters())[0].numel())
    for parameter in layer.parameters():
        nn.init.uniform_(parameter, -bound, bound, generator=generator)
    return layer


def _drawn_in_turn(layer: nn.Module, seed: int, index: int) -> None:
    """Initialize all parameters of ``layer``: matrices as in ``_drawn``, biases 0, norm weights 1."""
    layer.to_empty(device="cpu")
    generator = torch.Generator().manual_seed(seed * 1_000 + index)
    for name, parameter in layer.named_parameters():
        if parameter.dim() == 2:
            bound = 1 / math.sqrt(parameter.shape[1])
            nn.init.uniform_(parameter, -bound, bound, generator=generator)
        else:
            nn.init.constant_(parameter, 0.0 if name.endswith("bias") else 1.0)
