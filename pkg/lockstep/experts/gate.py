"""The gate, or router: which experts compute a token, how much each counts, and which tokens a full expert drops.

    T   tokens        E   experts                  c   capacity factor
    d   width         k   experts per token        C   capacity: ceil(c·k·T/E) places on each expert

    x (T, d) ──(1)──> scores H (T, E) ──(2)──> experts (T, k) ──(3)──> weights G (T, k)

    (1) H(x) = x·W. In training the noisy gate adds N(0, 1)·softplus(x·W_noise) to each score, so that an expert that is
        slightly behind gets tokens, too.
    (2) The k highest scores; ties go to the lower index.
    (3) "after":  softmax over the k remaining scores, so that the weights of a token add up to 1
        "before": softmax over all E scores, k of which are kept: they add up to less than 1

        scores 2, 1, 0, with k = 2        after: 0.73, 0.27        before: 0.67, 0.24

With k = 1, "after" gives every token the weight 1, whatever its score is: the gradient of the gate is zero. So Switch
Transformers take the softmax before.

Capacity limits the tokens that an expert computes. With c = 1 the places are just enough for an even load.

    (4) All first choices are placed first, in the order of the tokens; then all second choices; and so on.
    (5) Each takes the next place of its expert. If there is none, the choice is dropped: that expert does not compute
        that token.

             first choice    second       C = 2        expert 0        expert 1
    token 0       0            1                     token 0, 1st    token 2, 1st
    token 1       0            1                     token 1, 1st    token 0, 2nd
    token 2       1            0                                                      dropped: 1's and 2's second choice

A dropped choice adds nothing to the token's output. A token that is dropped by all of its experts leaves the layer as
zeros, and only the residual connection around the layer carries it on. The last tokens of a batch are dropped first;
``by_weight`` orders the choices of a rank (first, second, ...) by decreasing weight instead: batch-prioritized routing.

A fixed capacity gives a mixture's tensors static shapes, and bounds the computation of the busiest expert, which the
others wait for. Each rank limits its own T tokens.

Sources: Shazeer et al., "Outrageously large neural networks", arXiv:1701.06538, equations 3 to 5 (noisy, after);
Lepikhin et al., "GShard", arXiv:2006.16668, algorithm 1 (before; capacity); Fedus et al., "Switch Transformers",
arXiv:2101.03961, equations 1 to 3 (before; capacity); Riquelme et al., "Scaling vision with sparse mixture of experts",
arXiv:2106.05974, section 4 (by weight).
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.errors import UsageError

Softmax = Literal["before", "after"]
GATE, NOISE = 900_000, 900_001  # the numbers of its matrices, see ``matrix``


class Routing(NamedTuple):
    """The experts of T tokens."""

    experts: Tensor  # (T, k), int64: the best one first
    weights: Tensor  # (T, k); the gate's gradient comes through these
    scores: Tensor  # (T, E), for the losses of ``balance``; without noise
    kept: Tensor  # (T, k), bool: False where the expert was full


def top_k_gate(scores: Tensor, k: int, softmax: Softmax = "after") -> tuple[Tensor, Tensor]:
    """(2) and (3): the experts (T, k) of tokens with ``scores`` (T, E), and their weights (T, k).

    Raises UsageError unless 1 <= k <= E and ``softmax`` is "before" or "after"."""
    E = scores.shape[-1]
    if not 1 <= k <= E or softmax not in ("before", "after"):
        raise UsageError(f"A token has 1 to {E} experts, not {k}; softmax is 'before' or 'after', not {softmax!r}.")
    experts = torch.argsort(scores, dim=-1, descending=True, stable=True)[:, :k]  # (2)
    if softmax == "after":
        return experts, F.softmax(scores.gather(1, experts), dim=-1)  # (3)
    return experts, F.softmax(scores, dim=-1).gather(1, experts)


class TopKGate(nn.Module):
    """(1) to (3) for tokens of ``width`` d. With ``noisy`` it also has W_noise; noise is drawn in training only."""

    def __init__(
        self, width: int, experts: int, k: int = 2, softmax: Softmax = "after", noisy: bool = False, layer: int = 0,
        seed: int = 0, dtype: torch.dtype = torch.float32,
    ) -> None:  # fmt: skip
        super().__init__()
        self.k, self.softmax = k, softmax
        self.weight = matrix(experts, width, GATE, layer, seed, dtype)
        self.noise = matrix(experts, width, NOISE, layer, seed, dtype) if noisy else None

    def forward(self, x: Tensor, normal: Tensor | None = None) -> Routing:
        """The routing of ``x`` (T, d). ``normal`` (T, E): samples from N(0, 1) to use instead of random ones."""
        scores = noisy = F.linear(x, self.weight)  # (1)
        if self.noise is not None and self.training:
            normal = torch.randn_like(scores) if normal is None else normal
            noisy = scores + normal * F.softplus(F.linear(x, self.noise))
        experts, weights = top_k_gate(noisy, self.k, self.softmax)
        return Routing(experts, weights, scores, torch.ones_like(experts, dtype=torch.bool))


def matrix(
    outputs: int, inputs: int, number: int, layer: int, seed: int, dtype: torch.dtype = torch.float32
) -> nn.Parameter:
    """A parameter (outputs, inputs) of a layer's mixture, uniform up to 1/sqrt(inputs) as in ``models``.

    Its values depend on seed, layer and ``number`` only, so they are the same on whichever rank it is created."""
    generator = torch.Generator().manual_seed((seed * 1_000 + layer) * 1_000_000 + number)
    bound = 1 / math.sqrt(inputs)
    return nn.Parameter(torch.empty(outputs, inputs, dtype=dtype).uniform_(-bound, bound, generator=generator))


# ---- capacity


def capacity(factor: float, tokens: int, k: int, experts: int) -> int:
    """C, the places of each expert: ceil(factor·k·tokens/experts)."""
    return math.ceil(factor * k * tokens / experts)


def within_capacity(experts: Tensor, E: int, C: int, weights: Tensor | None = None) -> Tensor:
    """Which of the choices ``experts`` (T, k) get a place: (T, k), bool. ``weights`` (T, k): higher ones are placed
    first."""
    turns = experts.T  # (4) (k, T)
    if weights is None:
        return _first(turns.flatten(), E, C).view_as(turns).T
    order = torch.argsort(weights.T, dim=1, descending=True, stable=True)  # (k, T)
    kept = _first(turns.gather(1, order).flatten(), E, C).view_as(turns)
    return torch.empty_like(kept).scatter(1, order, kept).T


def _first(wanted: Tensor, E: int, C: int) -> Tensor:
    """(5) Which entries of ``wanted``, experts in order, are among the first C for their expert."""
    one_hot = F.one_hot(wanted, E)
    before = (one_hot.cumsum(0) * one_hot).sum(1) - 1  # how many earlier ones want the same expert
    return before < C


def limited(routing: Routing, factor: float | None, by_weight: bool = False) -> Routing:
    """``routing`` limited to the capacity of factor ``factor``; None is no limit."""
    if factor is None:
        return routing
    (T, E), k = routing.scores.shape, routing.experts.shape[1]
    weights = routing.weights.detach() if by_weight else None
    return routing._replace(kept=within_capacity(routing.experts, E, capacity(factor, T, k, E), weights))
