"""Capacity: how many tokens an expert takes, and who is dropped when more want to go there.

    T   tokens        k   experts of a token        c   capacity factor
    E   experts       C   ceil(c·k·T/E), the places that each expert has: with c = 1 just enough if all have as much

    (1) All first choices come first, by token; then all second choices, by token; and so on.
    (2) Each takes the next place of its expert. Who finds no place is dropped: that expert does not compute the token.

             first choice    second       C = 2        expert 0        expert 1
    token 0       0            1                     token 0, 1st    token 2, 1st
    token 1       0            1                     token 1, 1st    token 0, 2nd
    token 2       1            0                                                      dropped: 1's and 2's second choice

What is dropped adds nothing to the token's output. A token that is dropped by all of its experts leaves the layer as
zeros, and only the residual connection around the layer carries it on. The last tokens of a batch are dropped first;
``by_weight`` takes the choices of a kind by falling weight instead (batch-prioritized routing).

Fixed places are what makes a mixture's tensors have shapes that are known beforehand, and bounds what the fullest
expert computes: the others wait for it. Each rank limits its own T tokens.

Sources: Fedus et al., "Switch Transformers", arXiv:2101.03961, equation 3; (1) Lepikhin et al., "GShard",
arXiv:2006.16668, algorithm 1; Riquelme et al., "Scaling vision with sparse mixture of experts", arXiv:2106.05974,
section 4.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from lockstep.experts.gate import Routing


def capacity(factor: float, tokens: int, k: int, experts: int) -> int:
    """C: ceil(factor·k·tokens/experts)."""
    return math.ceil(factor * k * tokens / experts)


def within_capacity(experts: Tensor, E: int, C: int, weights: Tensor | None = None) -> Tensor:
    """Which of the choices (T, k) find a place, (T, k) bool. ``weights`` (T, k): the higher ones come first."""
    turns = experts.T  # (1) (k, T)
    if weights is None:
        return _first(turns.flatten(), E, C).view_as(turns).T
    order = torch.argsort(weights.T, dim=1, descending=True, stable=True)  # (k, T)
    kept = _first(turns.gather(1, order).flatten(), E, C).view_as(turns)
    return torch.empty_like(kept).scatter(1, order, kept).T


def _first(wanted: Tensor, E: int, C: int) -> Tensor:
    """(2) Which of those in a row, each of whom wants an expert, are among its first C."""
    one_hot = F.one_hot(wanted, E)
    before = (one_hot.cumsum(0) * one_hot).sum(1) - 1  # how many in front want the same one
    return before < C


def limited(routing: Routing, factor: float | None, by_weight: bool = False) -> Routing:
    """``routing`` with the places of capacity factor ``factor``; None is no limit."""
    if factor is None:
        return routing
    (T, E), k = routing.scores.shape, routing.experts.shape[1]
    weights = routing.weights.detach() if by_weight else None
    return routing._replace(kept=within_capacity(routing.experts, E, capacity(factor, T, k, E), weights))
