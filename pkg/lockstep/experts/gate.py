"""The gate: which experts compute a token, and how much each of them counts.

    T   tokens        E   experts
    d   width         k   experts of each token

    x (T, d) ──(1)──> scores H (T, E) ──(2)──> experts (T, k) ──(3)──> weights G (T, k)

    (1) H(x) = x·W. The noisy gate adds N(0, 1)·softplus(x·W_noise) to each score while it trains: an expert that is a
        little behind gets tokens, too.
    (2) The k highest scores; of equal ones those with the lower numbers.
    (3) "after":  softmax over the k scores that are left, so that the weights of a token add up to 1
        "before": softmax over all E scores, of which k are kept: they add up to less than 1

        scores 2, 1, 0, with k = 2        after: 0.73, 0.27        before: 0.67, 0.24

With k = 1, "after" gives every token the weight 1, whatever its score is: the loss says nothing to the gate, whose
gradient is zero. So Switch Transformers take the softmax before.

Sources: Shazeer et al., "Outrageously large neural networks", arXiv:1701.06538, equations 3 to 5 (noisy, after);
Lepikhin et al., "GShard", arXiv:2006.16668, algorithm 1, and Fedus et al., "Switch Transformers", arXiv:2101.03961,
equations 1 and 2 (before).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.errors import UsageError
from lockstep.experts.expert import matrix

Softmax = Literal["before", "after"]
GATE, NOISE = 900_000, 900_001  # the numbers of its matrices in ``expert.matrix``


class Routing(NamedTuple):
    """Where T tokens go."""

    experts: Tensor  # (T, k), int64: the best one first
    weights: Tensor  # (T, k), which carry the gate's gradient
    scores: Tensor  # (T, E), for the losses of ``balance``; without noise
    kept: Tensor  # (T, k), bool: False where an expert was full (``capacity``)


def top_k_gate(scores: Tensor, k: int, softmax: Softmax = "after") -> tuple[Tensor, Tensor]:
    """(2) and (3): the experts (T, k) of tokens with these ``scores`` (T, E), and their weights (T, k).

    Raises UsageError for more choices than experts, and for a softmax that is neither before nor after."""
    E = scores.shape[-1]
    if not 1 <= k <= E or softmax not in ("before", "after"):
        raise UsageError(f"A token has 1 to {E} experts, not {k}; softmax is 'before' or 'after', not {softmax!r}.")
    experts = torch.argsort(scores, dim=-1, descending=True, stable=True)[:, :k]  # (2)
    if softmax == "after":
        return experts, F.softmax(scores.gather(1, experts), dim=-1)  # (3)
    return experts, F.softmax(scores, dim=-1).gather(1, experts)


class TopKGate(nn.Module):
    """(1) to (3) for tokens of ``width`` d. ``noisy`` gives it W_noise as well; noise is drawn in training only."""

    def __init__(
        self, width: int, experts: int, k: int = 2, softmax: Softmax = "after", noisy: bool = False, layer: int = 0,
        seed: int = 0, dtype: torch.dtype = torch.float32,
    ) -> None:  # fmt: skip
        super().__init__()
        self.k, self.softmax = k, softmax
        self.weight = matrix(experts, width, GATE, layer, seed, dtype)
        self.noise = matrix(experts, width, NOISE, layer, seed, dtype) if noisy else None

    def forward(self, x: Tensor, normal: Tensor | None = None) -> Routing:
        """The routing of ``x`` (T, d). ``normal`` (T, E): the draws from N(0, 1), for who must know them."""
        scores = noisy = F.linear(x, self.weight)  # (1)
        if self.noise is not None and self.training:
            normal = torch.randn_like(scores) if normal is None else normal
            noisy = scores + normal * F.softplus(F.linear(x, self.noise))
        experts, weights = top_k_gate(noisy, self.k, self.softmax)
        return Routing(experts, weights, scores, torch.ones_like(experts, dtype=torch.bool))
