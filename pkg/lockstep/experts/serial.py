"""A mixture of experts on one rank: the serial reference, and the lecture notes' "mixture", which computes everything.

    y_t = Σ_i G_i(x_t)·E_i(x_t)          T tokens, E experts, k of them for each token

    sparse    each expert computes the tokens that chose it: T·k rows in all
    dense     each expert computes all tokens: T·E rows, E/k times as many

With the same weights G, zero for the experts that a token did not choose, both give the same y. The notes' sample takes
the softmax over all scores, with no top k: all E weights are nonzero, so nothing can be skipped. It does not "activate
only a subset of experts per forward pass".

An expert's parameters depend on the layer and the expert's number only. So a rank that has experts 6 and 7 has the same
two as a rank that has all of them.

Source of the formula: Shazeer et al., arXiv:1701.06538, equation 1; Jacobs et al., "Adaptive mixtures of local
experts", Neural Computation 3, 1991, in which all experts are computed, as in the notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.experts.gate import Routing, TopKGate, limited, matrix


class Expert(nn.Module):
    """An MLP, W_down·gelu(W_up·x) without biases: (n, d) to (n, d), with n = 0 allowed; 2·d·``hidden`` parameters."""

    def __init__(
        self, width: int, hidden: int, number: int, layer: int = 0, seed: int = 0, dtype: torch.dtype = torch.float32
    ) -> None:
        super().__init__()
        self.up = matrix(hidden, width, 2 * number, layer, seed, dtype)
        self.down = matrix(width, hidden, 2 * number + 1, layer, seed, dtype)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(F.gelu(F.linear(x, self.up)), self.down)


def sparse_mixture(x: Tensor, routing: Routing, experts: Iterable[nn.Module]) -> Tensor:
    """y (T, d) of ``x`` (T, d): each expert computes the tokens that chose it and were not dropped."""
    y = torch.zeros_like(x)
    for i, expert in enumerate(experts):
        tokens, choice = torch.nonzero((routing.experts == i) & routing.kept, as_tuple=True)
        y = y.index_add(0, tokens, routing.weights[tokens, choice].unsqueeze(1) * expert(x[tokens]))
    return y


def dense_mixture(x: Tensor, routing: Routing, experts: Sequence[nn.Module]) -> Tensor:
    """The same y, but each expert computes all tokens; its output is multiplied by 0 for those that did not choose
    it."""
    weights = torch.zeros_like(routing.scores).scatter(1, routing.experts, routing.weights * routing.kept)  # (T, E)
    return sum((weights[:, i : i + 1] * expert(x) for i, expert in enumerate(experts)), start=torch.zeros_like(x))


class NotesMixture(nn.Module):
    """The notes' sample, line by line: every expert computes every token."""

    def __init__(self, width: int = 1024, num_experts: int = 4) -> None:
        super().__init__()
        self.experts = nn.ModuleList([nn.Linear(width, width) for _ in range(num_experts)])
        self.gate = nn.Linear(width, num_experts)

    def forward(self, x: Tensor) -> Tensor:
        gate_scores = torch.softmax(self.gate(x), dim=-1)
        output: Tensor = sum(gate_scores[:, i].unsqueeze(1) * self.experts[i](x) for i in range(len(self.experts)))
        return output


class SerialMoE(nn.Module):
    """The mixture on one rank: x (T, d) to (T, d). ``routing`` is that of the last call, for the losses.

    Its parameters are bitwise those of ``ExpertParallelMoE`` with the same ``layer`` and ``seed``."""

    routing: Routing

    def __init__(
        self, gate: TopKGate, hidden: int, layer: int = 0, seed: int = 0, capacity_factor: float | None = None
    ) -> None:
        super().__init__()
        (E, d), dtype = gate.weight.shape, gate.weight.dtype
        self.gate, self.capacity_factor = gate, capacity_factor
        self.experts = nn.ModuleList([Expert(d, hidden, i, layer, seed, dtype) for i in range(E)])

    def forward(self, x: Tensor, normal: Tensor | None = None, shares: Sequence[int] | None = None) -> Tensor:
        """``shares``: the sizes of parts of the batch to which the capacity applies separately, as it does to the
        tokens of each rank."""
        shares = [len(x)] if shares is None else list(shares)
        draws = [None] * len(shares) if normal is None else torch.split(normal, shares)
        parts = [
            limited(self.gate(part, drawn), self.capacity_factor)
            for part, drawn in zip(torch.split(x, shares), draws, strict=True)
        ]
        self.routing = Routing(*(torch.cat(tensors) for tensors in zip(*parts, strict=True)))
        return sparse_mixture(x, self.routing, self.experts)


def rows_computed(experts: int, k: int, tokens: int) -> dict[str, int]:
    """The number of rows that all experts compute together, in the sparse and in the dense form."""
    return {"sparse": tokens * k, "dense": tokens * experts}
