"""Who averages with whom: graphs as mixing matrices, and how fast averaging over them makes all ranks agree.

Entry [i, j] of a mixing matrix W is the weight of rank j's numbers in rank i's next ones: x_i' = sum of W[i, j]·x_j
over j. It is 0 where j sends nothing to i.

    each row sums to 1         ranks that agree stay as they are
    each column sums to 1      the sum over the ranks, and so the mean, stays as it is
    both ("doubly stochastic") all ranks come to hold the mean of what they began with, if the graph is connected

How soon? The disagreement shrinks in each step by |λ₂|, the second largest magnitude among the eigenvalues of W (the
largest is 1). The *spectral gap* is 1 - |λ₂|: 1 agrees at once, 0 never.

    graph of K ranks              sends a step, each rank      1 - |λ₂|
    ring                          2                            about 13/K²      weights 1/3
    torus, √K x √K                4                            about 8/K        weights 1/5
    exponential (one-way)         t = ⌈log₂ K⌉                 2/(t + 1)        weights 1/(t + 1), for even K
    complete                      K - 1                        1                weights 1/K
    one-peer exponential          1                            exact after t steps, where K is a power of two

Sources: L. Xiao and S. Boyd, Fast linear iterations for distributed averaging, Systems & Control Letters 53, 2004
(weights and λ₂); B. Ying, K. Yuan, Y. Chen, H. Hu, P. Pan and W. Yin, Exponential Graph is Provably Efficient for
Decentralized Deep Training, NeurIPS 2021, arXiv:2110.13363 (both exponential graphs).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import torch
from torch import Tensor

from lockstep.errors import UsageError

Graph = Sequence[Collection[int]]  # [i]: the neighbours of rank i, never i itself


def ring(ranks: int) -> Tensor:
    """Each rank averages with its two neighbours on a ring, all three alike. A K x K matrix, as all of these."""
    return metropolis([{(i - 1) % ranks, (i + 1) % ranks} - {i} for i in range(ranks)])


def torus(rows: int, columns: int) -> Tensor:
    """Rank i stands in row i // columns and column i % columns: it averages with the four beside, above and below it,
    round the edges."""
    near = ((0, 1), (0, -1), (1, 0), (-1, 0))
    places = [divmod(i, columns) for i in range(rows * columns)]
    graph = [{(r + down) % rows * columns + (c + right) % columns for down, right in near} for r, c in places]
    return metropolis([neighbours - {i} for i, neighbours in enumerate(graph)])


def star(ranks: int) -> Tensor:
    """All average with rank 0 only."""
    return metropolis([set(range(1, ranks)), *[{0}] * (ranks - 1)])


def complete(ranks: int) -> Tensor:
    """All average with all: in one step, the mean."""
    return torch.full((ranks, ranks), 1 / ranks, dtype=torch.float64)


def exponential(ranks: int) -> Tensor:
    """Rank i hears from i + 1, i + 2, i + 4, i + 8 ... (mod K), which do not hear from it: the matrix is not symmetric,
    yet rows and columns sum to 1."""
    steps = [0, *hops(ranks)]
    mixing = torch.zeros(ranks, ranks, dtype=torch.float64)
    for i in range(ranks):
        for hop in steps:
            mixing[i, (i + hop) % ranks] = 1 / len(steps)
    return mixing


def one_peer_exponential(ranks: int) -> list[Tensor]:
    """A matrix for each step, to be used by turns: rank i averages with i + 1, in the next step with i + 2, then i + 4
    ... (mod K). One message a step; where K is a power of two, each round of log₂ K steps ends with the exact mean."""
    own = torch.eye(ranks, dtype=torch.float64)
    return [(own + own.roll(hop, 1)) / 2 for hop in hops(ranks)] or [own]


def hops(ranks: int) -> list[int]:
    """1, 2, 4 ... below K."""
    return [1 << n for n in range((ranks - 1).bit_length())]


def metropolis(graph: Graph) -> Tensor:
    """Weights that each pair of neighbours can agree on without knowing the graph (Metropolis and Hastings): 1/(1 + the
    larger of their numbers of neighbours), and for itself what is left to 1. Symmetric, whatever the graph.

    Raises UsageError if some rank is its own neighbour, or one of two neighbours does not name the other."""
    for i, neighbours in enumerate(graph):
        for j in neighbours:
            if j == i or not 0 <= j < len(graph) or i not in graph[j]:
                raise UsageError(f"Rank {i} names {j} as a neighbour.", "Two different ranks each name the other.")
    mixing = torch.zeros(len(graph), len(graph), dtype=torch.float64)
    for i, neighbours in enumerate(graph):
        for j in neighbours:
            mixing[i, j] = 1 / (1 + max(len(graph[i]), len(graph[j])))
        mixing[i, i] = 1 - mixing[i].sum()
    return mixing


def second_eigenvalue(mixing: Tensor) -> float:
    """|λ₂|: the second largest magnitude among the eigenvalues; 0 for one rank."""
    is_symmetric = torch.equal(mixing, mixing.T)  # then LAPACK always finds them, also where many are equal
    values = torch.linalg.eigvalsh(mixing) if is_symmetric else torch.linalg.eigvals(mixing)
    magnitudes = values.abs().sort(descending=True).values
    return float(magnitudes[1]) if len(magnitudes) > 1 else 0.0


def spectral_gap(mixing: Tensor) -> float:
    """1 - |λ₂|."""
    return 1 - second_eigenvalue(mixing)


def neighbours(mixing: Tensor) -> int:
    """The most ranks that one rank hears from."""
    return int(((mixing != 0).sum(1) - (mixing.diagonal() != 0).int()).max())
