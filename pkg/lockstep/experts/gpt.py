"""The course's small GPT with a mixture of experts in every other block.

    embedding ── block 1 ── block 2 ── block 3 ── block 4 ── head          layers = 4
                             experts               experts

Everything except the experts is bitwise that of ``models.GPT`` with the same seed: only the MLPs of blocks 2, 4, … are
replaced. Each expert is as wide as the MLP was, so with k = 1 a token uses as many parameters as in the dense model,
and the gate's.

Source: Fedus et al., "Switch Transformers", arXiv:2101.03961, section 2 and table 9: experts in every other layer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from lockstep.experts.expert_parallel import ExpertParallelMoE
from lockstep.experts.gate import Routing, Softmax, TopKGate
from lockstep.experts.serial import SerialMoE
from lockstep.models import Block, gpt_layers

Mixture = SerialMoE | ExpertParallelMoE
MakeMixture = Callable[[TopKGate, int, int], Mixture]  # (gate, hidden width of an expert, index of the block)


class MixtureBlock(Block):
    """A block of ``models`` with ``mixture`` in place of its MLP: (batch, T, width) to the same shape."""

    def __init__(
        self, mixture: Mixture, width: int, heads: int, seed: int, index: int, dtype: torch.dtype = torch.float32
    ) -> None:
        super().__init__(width, heads, seed, index, dtype)
        del self.up, self.down
        self.mixture = mixture

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.out(self._attention(self.before_attention(x)))
        tokens: Tensor = self.mixture(self.before_mlp(x).flatten(0, 1))  # (batch·T, width)
        return x + tokens.view_as(x)


class MixtureGPT(nn.Sequential):
    """``models.GPT`` with mixtures of ``experts`` in blocks 2, 4, …: (batch, T) to scores (batch, T, vocabulary).

    ``make(gate, hidden, index)`` creates each mixture: ``on_one_rank()`` by default, or ``on_ranks(group)``."""

    def __init__(
        self, experts: int = 8, k: int = 1, softmax: Softmax = "before", noisy: bool = False, vocabulary: int = 256,
        width: int = 64, heads: int = 4, layers: int = 2, context: int = 64, seed: int = 0,
        dtype: torch.dtype = torch.float32, make: MakeMixture | None = None,
    ) -> None:  # fmt: skip
        make = make or on_one_rank()
        super().__init__(*gpt_layers(vocabulary, width, heads, layers, context, seed, dtype))
        for index in range(2, layers + 1, 2):
            gate = TopKGate(width, experts, k, softmax, noisy, index, seed, dtype)
            self[index] = MixtureBlock(make(gate, 4 * width, index), width, heads, seed, index, dtype)

    @property
    def mixtures(self) -> list[Mixture]:
        return [block.mixture for block in self if isinstance(block, MixtureBlock)]

    @property
    def routings(self) -> Sequence[Routing]:
        """The routing of each mixture in the last call."""
        return [mixture.routing for mixture in self.mixtures]


def on_one_rank(capacity_factor: float | None = None, seed: int = 0) -> MakeMixture:
    return lambda gate, hidden, index: SerialMoE(gate, hidden, index, seed, capacity_factor)


def on_ranks(
    group: torch.distributed.ProcessGroup | None = None, capacity_factor: float | None = None, seed: int = 0
) -> MakeMixture:
    return lambda gate, hidden, index: ExpertParallelMoE(gate, hidden, index, seed, capacity_factor, group)
