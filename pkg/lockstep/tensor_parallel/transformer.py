"""A Transformer on K ranks: the MLP, the block and the GPT, every matrix in parts, every rank on the same batch.

The MLP: columns, then rows. One all-reduce forward, one backward.

    X (b, T, h)    A (h, 4h)    B (4h, h)        Z = GeLU(X·A)·B

              rank 0    X ── 1 f ── GeLU(X·A_0) = Y_0 ── Y_0·B_0 ──┐
              rank 1    X ── 1 f ── GeLU(X·A_1) = Y_1 ── Y_1·B_1 ──┴─ 2 g ── Z = Y_0·B_0 + Y_1·B_1, on both

The other way round, rows first, would take an all-reduce before GeLU, of 4h numbers for each token, and another
communication after it. The numbers between f and g, 4h/K for each token, never leave their rank.

The block: twice "columns, then rows", so two all-reduces forward and two backward.

                  alike on all ranks           a part on each           alike on all ranks
    x ──┬── norm ────────────────── 1 f ── attention, its heads ── 2 g ──────┐
        └────────────────────────────────────────────────────────────────── + ──┬── x'
    x'──┬── norm ────────────────── 3 f ── MLP, its columns ────── 4 g ──────┐
        └────────────────────────────────────────────────────────────────── + ──── out

2 and 4 communicate in the forward pass, 3 and 1 in the backward pass: each all-reduces b·T·h numbers. Norms, sums and
dropout are computed on all ranks alike. That is little work, but K copies of their activations: ``sequence`` avoids it.

The GPT:

    tokens ── embedding, 1 ── + positions ── blocks, 4 each ── norm ── scores, 1 ── loss, 3 short ones

The numbers are all-reduces of a step. Those of b·T·h numbers: one in the embedding's forward pass, four for each block,
one in the backward pass of the scores. The loss's three are of b·T numbers each (``vocabulary``).

On one rank it is ``models.next_token_loss(GPT()(tokens), following)``. Each layer is built and cut before the next one
is built: no rank ever holds the whole model. Megatron Core's ``GPTModel`` does the same, with a ``TransformerConfig``
and ``parallel_state.initialize_model_parallel(tensor_model_parallel_size=K)``.

Source: Shoeybi et al., Megatron-LM, arXiv:1909.08053, section 3, figures 3a and 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.models import Block, Embedding, Head
from lockstep.tensor_parallel.attention import Core, ParallelAttention, causal
from lockstep.tensor_parallel.f_and_g import Group
from lockstep.tensor_parallel.linear import PLAIN, Style, taken
from lockstep.tensor_parallel.vocabulary import VocabParallelEmbedding, vocab_parallel_cross_entropy


class ParallelMLP(nn.Module):
    """This rank's part of ``down(activation(up(x)))``: (..., width) to (..., width), alike on all ranks."""

    def __init__(
        self,
        up: nn.Linear,
        down: nn.Linear,
        activation: Callable[[Tensor], Tensor] = F.gelu,
        group: Group = None,
        style: Style = PLAIN,
    ) -> None:
        super().__init__()
        self.up, self.down, self.activation = style.column(up, group), style.row(down, group), activation  # 1, 2

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.down(self.activation(self.up(x)))  # (b, T, 4h/K) between the two
        return out


class ParallelBlock(nn.Module):
    """This rank's part of ``block``: (b, T, width) to the same shape. ``core``: the attention of this rank's heads;
    ``drop``: the dropout applied to the outputs of attention and MLP (``dropout``)."""

    def __init__(
        self, block: Block, group: Group = None, style: Style = PLAIN, core: Core = causal,
        drop: nn.Module | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.before_attention, self.before_mlp = (
            style.norm(n, group) for n in (block.before_attention, block.before_mlp)
        )
        self.attention = ParallelAttention(block.qkv, block.out, block.heads, group=group, style=style, core=core)
        self.mlp = ParallelMLP(block.up, block.down, F.gelu, group, style)
        self.drop = drop or nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.drop(self.attention(self.before_attention(x)))  # 1, 2
        out: Tensor = x + self.drop(self.mlp(self.before_mlp(x)))  # 3, 4
        return out


class ParallelGPT(nn.Module):
    """This rank's part of a GPT, given its layers in their order (``models.gpt_layers``). ``core``, ``drop``: of each
    ``ParallelBlock``."""

    def __init__(
        self, layers: Iterable[nn.Module], group: Group = None, style: Style = PLAIN, core: Core = causal,
        drop: nn.Module | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.group, self.blocks = group, nn.ModuleList()
        for layer in layers:
            if isinstance(layer, Embedding):
                self.token = VocabParallelEmbedding(layer.token, group)
                self.position = taken(layer.position.weight)  # (context, width)
            elif isinstance(layer, Block):
                self.blocks.append(ParallelBlock(layer, group, style, core, drop))
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
