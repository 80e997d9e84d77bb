"""A layer with experts on one rank, equal to that of a grid: each part of a sequence has places of its own.

On a grid a rank's tokens have so many places at each expert (``hybrid.expert_layer``): which token is dropped depends
on who shares out a sequence. So does one rank here, part after part.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from lockstep.experts.gate import TopKGate
from lockstep.experts.gpt import MixtureBlock
from lockstep.experts.serial import SerialMoE
from lockstep.hybrid.grid import GPTSize


class MixtureInParts(MixtureBlock):
    """The block number ``index``: (b, T, hidden) to the same shape, in float64. The tokens of each of ``pieces`` parts
    of a sequence have places of their own at the experts."""

    def __init__(self, model: GPTSize, index: int, pieces: int) -> None:
        gate = TopKGate(model.hidden, model.experts, model.top_k, layer=index, dtype=torch.float64)
        mixture = SerialMoE(gate, model.expert_ffn, index, capacity_factor=model.capacity)
        super().__init__(mixture, model.hidden, model.heads, 0, index, torch.float64)
        self.pieces = pieces

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.out(self._attention(self.before_attention(x)))
        parts = self.before_mlp(x).tensor_split(self.pieces, dim=1)
        out: Tensor = x + torch.cat([self.mixture(part.flatten(0, 1)).view_as(part) for part in parts], dim=1)
        return out

    def parameters_of_mixture(self) -> Iterator[tuple[str, tuple[Tensor, Tensor]]]:
        """The gate's and the experts' weights and gradients, as a grid's ranks call them; experts as (E, ...)."""
        gate = self.mixture.gate.weight
        yield "gate", (gate.detach(), gradient_of(gate))
        for name in ("up", "down"):
            of = [getattr(expert, name) for expert in self.mixture.experts]
            yield name, (torch.stack([p.detach() for p in of]), torch.stack(list(map(gradient_of, of))))


def gradient_of(p: Tensor) -> Tensor:
    """Zeros for an expert that no token chose."""
    return torch.zeros_like(p) if p.grad is None else p.grad
