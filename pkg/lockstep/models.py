"""Small models to train, the same on every rank and in every process.

Each layer draws its parameters from a generator of its own, seeded by the model's seed and the layer's index. So two
ranks that build the same model hold the same bits; who builds only some of the layers gets the same ones; and the
program's own random numbers go on as if no model had been built.
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
    """The same with batch normalisation before each ReLU: an example's output depends on the others of its batch."""
    layers: list[nn.Module] = []
    for index, (inputs, outputs) in enumerate(pairwise(sizes)):
        layers += [linear(inputs, outputs, seed, index, dtype), nn.BatchNorm1d(outputs, dtype=dtype), nn.ReLU()]
    return nn.Sequential(*layers[:-2])


def small_convnet(seed: int = 0, dtype: torch.dtype = torch.float32) -> nn.Sequential:
    """For pictures of 8x8 points: (n, 1, 8, 8) to the scores of ten digits, (n, 10). It has 1,898 parameters."""
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
    """An autoencoder of one matrix W, used twice: ``relu(x @ W.T) @ W``. Its gradient is the sum of both uses."""

    def __init__(self, width: int, seed: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight = linear(width, max(1, width // 2), seed, 0, dtype).weight

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x @ self.weight.T) @ self.weight


def tied(width: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tied:
    """Encoder and decoder that share their weights: (n, width) to (n, width), through half as many numbers."""
    return Tied(width, seed, dtype)


class Embedding(nn.Module):
    """Layer 0 of a ``GPT``: what each token and each position means. (batch, T) whole numbers to (batch, T, width)."""

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
    """One of a ``GPT``'s layers: attention, then an MLP four times as wide, each added to what came in.

    (batch, T, width) to the same shape. Position t sees the positions up to t."""

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
    """The last layer of a ``GPT``: the scores of each token to be the next. (batch, T, width) to (…, vocabulary)."""

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
    """The ``layers + 2`` layers of a ``GPT`` in order, each made when it is asked for."""
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
    """A small language model: ``layers`` blocks between an embedding and a head, ``layers + 2`` layers in a row.

    ``GPT()`` maps (batch, T) whole numbers below ``vocabulary``, T at most ``context``, to the scores of each next
    token, (batch, T, vocabulary). Layer i alone has the numbers that it has in the model: ``Block(width, heads, seed,
    i)``. No dropout, and the embedding's numbers are not the head's, so that each layer can be on a rank of its own.

    Source: Radford et al., "Language models are unsupervised multitask learners", 2019 (GPT-2), section 2.3; matrices
    are uniform up to 1/sqrt(width), whose deviation at GPT-2's 768 is its 0.02. Raises UsageError for sizes without
    sense."""

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
    """How many numbers it learns; those that it uses twice count once."""
    return sum(p.numel() for p in model.parameters())


def _drawn(layer: Layer, seed: int, index: int) -> Layer:
    """``layer``, so far without numbers, with uniform ones up to 1/sqrt(fan-in), as torch draws them."""
    layer.to_empty(device="cpu")
    generator = torch.Generator().manual_seed(seed * 1_000 + index)
    bound = 1 / math.sqrt(next(layer.parameters())[0].numel())
    for parameter in layer.parameters():
        nn.init.uniform_(parameter, -bound, bound, generator=generator)
    return layer


def _drawn_in_turn(layer: nn.Module, seed: int, index: int) -> None:
    """Numbers for all parameters of ``layer``: matrices as above, biases zero, norms one."""
    layer.to_empty(device="cpu")
    generator = torch.Generator().manual_seed(seed * 1_000 + index)
    for name, parameter in layer.named_parameters():
        if parameter.dim() == 2:
            bound = 1 / math.sqrt(parameter.shape[1])
            nn.init.uniform_(parameter, -bound, bound, generator=generator)
        else:
            nn.init.constant_(parameter, 0.0 if name.endswith("bias") else 1.0)
