"""A block of a GPT on K ranks: twice "columns, then rows", so two all-reduces forward and two backward.

                  alike on all ranks           a part on each           alike on all ranks
    x ──┬── norm ────────────────── 1 f ── attention, its heads ── 2 g ──────┐
        └────────────────────────────────────────────────────────────────── + ──┬── x'
    x'──┬── norm ────────────────── 3 f ── MLP, its columns ────── 4 g ──────┐
        └────────────────────────────────────────────────────────────────── + ──── out

2 and 4 talk in the forward pass, 3 and 1 in the backward pass: each all-reduces b·T·h numbers. What is alike on all
ranks is computed on all ranks: norms, sums, dropout. That is little work, but their activations are there K times:
``sequence`` is for that. Source: Shoeybi et al., Megatron-LM, arXiv:1909.08053, section 3, figure 4.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.models import Block
from lockstep.tensor_parallel.attention import Core, ParallelAttention, causal
from lockstep.tensor_parallel.f_and_g import Group
from lockstep.tensor_parallel.linear import PLAIN, Style
from lockstep.tensor_parallel.mlp import ParallelMLP


class ParallelBlock(nn.Module):
    """This rank's part of ``block``: (b, T, width) to the same shape. ``core``: what attention does with its heads;
    ``drop``: what becomes of the two summands (``dropout``)."""

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
