"""Mixture of depths: a block computes only some tokens of a sequence; the others bypass it.

    T   tokens of a sequence       C   those that the block computes: round(share·T), at least 1
    d   width                      r   a score for each token: x·w

                              ┌── (2) block, on C tokens ── (3) · r ──┐
    x (batch, T, d) ── (1) ───┤                                       + ── (batch, T, d)
                              └───────────── all tokens ──────────────┘

    (1) The C tokens with the highest scores, in their original order: position t attends to the chosen ones up to t.
    (2) What the block adds to them. Attention is among C tokens, so its scores cost (C/T)² of what they did.
    (3) Multiplied by the score, which is how the router gets a gradient.

C is known in advance, as with a capacity, so all shapes are static. But which tokens are chosen depends on the whole
sequence, later tokens included: to generate token by token, a model has to predict whether a token would be chosen.

Source: Raposo et al., "Mixture-of-Depths", arXiv:2404.02258, equation 1; they take 12.5 % in every other block.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lockstep.errors import UsageError
from lockstep.experts.gate import matrix
from lockstep.tables import Table

ROUTER = 900_002  # the number of its vector, see ``gate.matrix``


class MixtureOfDepths(nn.Module):
    """Applies ``block`` to the ``share`` of the tokens that a router chooses. ``block`` maps (batch, C, width) to the
    same shape and includes its residual connection, like ``models.Block``. Raises UsageError unless 0 < share <= 1."""

    def __init__(self, block: nn.Module, width: int, share: float = 0.125, layer: int = 0, seed: int = 0) -> None:
        super().__init__()
        if not 0 < share <= 1:
            raise UsageError(f"The share of the tokens is above 0, up to 1, not {share}.", "Write 0.125 for an eighth.")
        self.block, self.share = block, share
        dtype = next(block.parameters()).dtype
        self.router = matrix(1, width, ROUTER, layer, seed, dtype)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, T, width) to the same shape."""
        r = (x @ self.router.T).squeeze(-1)  # (batch, T)
        chosen = self.chosen(r)  # (1) (batch, C)
        places = chosen.unsqueeze(-1).expand(-1, -1, x.shape[-1])
        tokens = x.gather(1, places)  # (batch, C, width)
        added = self.block(tokens) - tokens  # (2)
        return x.scatter_add(1, places, added * r.gather(1, chosen).unsqueeze(-1))  # (3)

    def chosen(self, scores: Tensor) -> Tensor:
        """The positions (batch, C) of the highest ``scores`` (batch, T), ascending; ties go to the earlier token."""
        C = max(1, round(self.share * scores.shape[1]))
        return torch.argsort(scores, dim=1, descending=True, stable=True)[:, :C].sort(dim=1).values


def block_flops(tokens: int, width: int) -> float:
    """FLOPs of the forward pass of a block of ``models`` on ``tokens`` tokens: 24·d² + 4·T·d for each."""
    return tokens * (24 * width**2 + 4 * tokens * width)


def depth_flops(tokens: int, width: int, share: float) -> float:
    """The same with a router: its scores, and the block on C tokens."""
    C = max(1, round(share * tokens))
    return block_flops(C, width) + 2 * tokens * width


def depths_table(tokens: int = 2048, width: int = 2048) -> Table:
    """The cost of a block with a router, by the share of the tokens that it computes."""
    whole = block_flops(tokens, width)
    rows = [[f"{share:g}", f"{depth_flops(tokens, width, share) / whole:.5f}"] for share in (1, 1 / 2, 1 / 4, 1 / 8)]
    caption = f"Mixture of depths: {tokens:,} tokens of width {width:,}"
    return Table(caption, ["share of tokens", "share of a block's FLOPs"], rows)
