"""The course's small GPT on K ranks: every matrix in parts, every rank on the same batch.

    tokens ── embedding, 1 ── + positions ── blocks, 4 each ── norm ── scores, 1 ── loss, 3 short ones

The numbers are all-reduces of a step. Those of b·T·h numbers: one in the embedding's forward pass, four for each block,
one in the backward pass of the scores. The loss's three are of b·T numbers each (``vocabulary``).

On one rank it is ``models.next_token_loss(GPT()(tokens), following)``. Layers are built one after the other, and cut:
nobody holds the whole model. Megatron Core's ``GPTModel`` does likewise, with ``TransformerConfig(...)`` and
``parallel_state.initialize_model_parallel(tensor_model_parallel_size=K)``.
"""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor, nn

from lockstep.models import Block, Embedding, Head
from lockstep.tensor_parallel.block import ParallelBlock
from lockstep.tensor_parallel.f_and_g import Group
from lockstep.tensor_parallel.linear import PLAIN, Style, taken
from lockstep.tensor_parallel.vocabulary import VocabParallelEmbedding, vocab_parallel_cross_entropy


class ParallelGPT(nn.Module):
    """This rank's part of a GPT, given its layers in their order (``models.gpt_layers``)."""

    def __init__(self, layers: Iterable[nn.Module], group: Group = None, style: Style = PLAIN) -> None:
        super().__init__()
        self.group, self.blocks = group, nn.ModuleList()
        for layer in layers:
            if isinstance(layer, Embedding):
                self.token = VocabParallelEmbedding(layer.token, group)
                self.position = taken(layer.position.weight)  # (context, width)
            elif isinstance(layer, Block):
                self.blocks.append(ParallelBlock(layer, group, style))
            elif isinstance(layer, Head):
                self.norm, self.scores = style.norm(layer.norm, group), style.column(layer.scores, group)
                self.vocabulary = layer.scores.out_features

    def forward(self, tokens: Tensor) -> Tensor:
        """This rank's scores of each next token: (b, T) to (b, T, vocabulary/K)."""
        x = self.embedded(tokens)
        for block in self.blocks:
            x = block(x)
        scores: Tensor = self.scores(self.norm(x))
        return scores

    def embedded(self, tokens: Tensor) -> Tensor:
        out: Tensor = self.token(tokens) + self.position[: tokens.shape[1]]
        return out

    def loss(self, tokens: Tensor, following: Tensor) -> Tensor:
        """The mean cross-entropy of this batch in nats, the same on every rank."""
        return vocab_parallel_cross_entropy(self(tokens), following, self.vocabulary, self.group)
