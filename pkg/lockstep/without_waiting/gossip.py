"""Gossip: each rank averages with its neighbours only, again and again, and all come to agree on the mean.

Who averages with whom, and by how much, is the *mixing matrix* W, K x K for K ranks: W[i, j] is the weight of rank j's
numbers in rank i's next ones, 0 where j sends nothing to i. One step of gossip is x_i <- sum of W[i, j]·x_j over j.

    each row sums to 1         ranks that agree stay as they are
    each column sums to 1      the sum over the ranks, and so the mean, stays as it is
    both ("doubly stochastic") all ranks converge to the mean of what they began with, if the graph is connected

How soon? The disagreement shrinks in each step by |λ₂|, the second largest magnitude among the eigenvalues of W (the
largest is 1). The *spectral gap* is 1 - |λ₂|: with a gap of 1 all agree after one step, with 0 never.

    graph of K ranks              messages a rank sends in a step  1 - |λ₂|
    ring                          2                                about 13/K²      weights 1/3
    torus, √K x √K                4                                about 8/K        weights 1/5
    exponential (one-way)         t = ⌈log₂ K⌉                     2/(t + 1)        weights 1/(t + 1), for even K
    complete                      K - 1                            1                weights 1/K
    one-peer exponential          1                                exact after t steps, where K is a power of two

A step of gossip on rank r, and of decentralised parallel SGD (D-PSGD), which adds a step of SGD on the rank's own data:

    (1)  send x to each rank i with W[i, r] ≠ 0, and receive from each rank j with W[r, j] ≠ 0, all at the same time
    (2)  x <- the weighted sum of x and of what arrived
    (3)  D-PSGD: g <- gradient at the x of before (1), computed while the messages travel
    (4)  D-PSGD: x <- the sum of (2) - γ·g, with the learning rate γ

A rank sends and receives as many messages as it has neighbours, however many ranks there are, and waits for nobody
else; a parameter server sends and receives K - 1. The price: the ranks' models differ.

Cost of a step: one message of |x| numbers for each non-zero of W off the diagonal.
Sources: X. Lian, C. Zhang, H. Zhang, C.-J. Hsieh, W. Zhang and J. Liu, Can Decentralized Algorithms Outperform
Centralized Algorithms? NeurIPS 2017, arXiv:1705.09056, Algorithm 1 (D-PSGD); L. Xiao and S. Boyd, Fast linear
iterations for distributed averaging, Systems & Control Letters 53, 2004 (weights and λ₂); B. Ying, K. Yuan, Y. Chen,
H. Hu, P. Pan and W. Yin, Exponential Graph is Provably Efficient for Decentralized Deep Training, NeurIPS 2021,
arXiv:2110.13363 (both exponential graphs).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import combinations

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.errors import UsageError
from lockstep.without_waiting.local_sgd import Gradient

Mixing = Tensor | Sequence[Tensor]  # one matrix for all steps, or several that are used by turns
Graph = Sequence[Collection[int]]  # [i]: the neighbours of rank i, never i itself


def gossip_step(x: Tensor, mixing: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """The sum of mixing[r, j]·x_j over the ranks j, on rank r of the group: a new tensor of x's shape and dtype. The
    ranks hold the same ``mixing``; ``x`` stays as it was."""
    arrived, under_way = post(x, mixing, group)  # (1)
    for work in under_way:
        work.wait()
    return mixed(x, mixing, arrived, group)  # (2)


def d_psgd(
    gradient: Gradient, w: Tensor, steps: int, rate: float, mixing: Mixing, group: dist.ProcessGroup | None = None
) -> Tensor:
    """This rank's parameters after so many steps; the ranks' differ. ``w`` stays as it was.

    The gradient is that of the parameters before the messages, so that it is computed while they travel."""
    matrices = [mixing] if isinstance(mixing, Tensor) else mixing
    for step in range(steps):
        W = matrices[step % len(matrices)]
        arrived, under_way = post(w, W, group)  # (1)
        g = gradient(w, step)  # (3)
        for work in under_way:
            work.wait()
        w = mixed(w, W, arrived, group) - rate * g  # (2) (4)
    return w


def post(x: Tensor, mixing: Tensor, group: dist.ProcessGroup | None) -> tuple[dict[int, Tensor], list[dist.Work]]:
    """Start sending x and receiving the neighbours': the tensors that theirs arrive in, by rank, and the works to wait
    for."""
    r, weights = dist.get_rank(group), mixing.tolist()
    others = [j for j in range(dist.get_world_size(group)) if j != r]
    outgoing = x.contiguous()  # as a message must be
    arrived = {j: torch.empty_like(outgoing) for j in others if weights[r][j]}
    posted = [dist.P2POp(dist.isend, outgoing, group=group, group_peer=i) for i in others if weights[i][r]]
    posted += [dist.P2POp(dist.irecv, theirs, group=group, group_peer=j) for j, theirs in arrived.items()]
    return arrived, dist.batch_isend_irecv(posted) if posted else []


def mixed(x: Tensor, mixing: Tensor, arrived: dict[int, Tensor], group: dist.ProcessGroup | None) -> Tensor:
    """The weighted sum of x and of what has arrived, added in the order of the ranks: ranks that receive the same
    numbers with the same weights get the same bits."""
    r = dist.get_rank(group)
    weights = mixing[r].tolist()
    total = torch.zeros_like(x, memory_format=torch.contiguous_format)
    for j, numbers in sorted((arrived | {r: x}).items()):
        total += weights[j] * numbers
    return total


# ---- mixing matrices of graphs


def ring(ranks: int) -> Tensor:
    """The K x K matrix by which each rank averages with its two neighbours on a ring, all three with equal weight."""
    return metropolis([{(i - 1) % ranks, (i + 1) % ranks} - {i} for i in range(ranks)])


def torus(rows: int, columns: int) -> Tensor:
    """The mixing matrix of a torus: rank i is in row i // columns and column i % columns, and averages with the ranks
    to its left and right, above and below, wrapping round at the edges."""
    near = ((0, 1), (0, -1), (1, 0), (-1, 0))
    places = [divmod(i, columns) for i in range(rows * columns)]
    graph = [{(r + down) % rows * columns + (c + right) % columns for down, right in near} for r, c in places]
    return metropolis([neighbours - {i} for i, neighbours in enumerate(graph)])


def star(ranks: int) -> Tensor:
    """The mixing matrix of a star: all ranks average with rank 0 only."""
    return metropolis([set(range(1, ranks)), *[{0}] * (ranks - 1)])


def complete(ranks: int) -> Tensor:
    """The mixing matrix of the complete graph: one step gives every rank the mean of all."""
    return torch.full((ranks, ranks), 1 / ranks, dtype=torch.float64)


def exponential(ranks: int) -> Tensor:
    """The mixing matrix of the static exponential graph: rank i receives from i + 1, i + 2, i + 4, i + 8 ... (mod K),
    which do not receive from it. It is not symmetric, yet its rows and columns sum to 1."""
    steps = [0, *hops(ranks)]
    mixing = torch.zeros(ranks, ranks, dtype=torch.float64)
    for i in range(ranks):
        for hop in steps:
            mixing[i, (i + hop) % ranks] = 1 / len(steps)
    return mixing


def one_peer_exponential(ranks: int) -> list[Tensor]:
    """The matrices of the one-peer exponential graph, to be used in turn: rank i averages with i + 1, in the next step
    with i + 2, then i + 4 ... (mod K). One message a step; where K is a power of two, every log₂ K steps end with the
    exact mean."""
    own = torch.eye(ranks, dtype=torch.float64)
    return [(own + own.roll(hop, 1)) / 2 for hop in hops(ranks)] or [own]


def hops(ranks: int) -> list[int]:
    """The powers of two below K: 1, 2, 4 ..."""
    return [1 << n for n in range((ranks - 1).bit_length())]


def metropolis(graph: Graph) -> Tensor:
    """The Metropolis-Hastings weights of a graph, on which each pair of neighbours can agree without knowing the rest
    of it: 1/(1 + the larger of their two degrees), and the remainder to 1 for the rank itself. Always symmetric.

    Raises UsageError if a rank is its own neighbour, or one of two neighbours does not name the other."""
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
    """|λ₂|: the second largest magnitude among the eigenvalues of a mixing matrix; 0 for one rank."""
    is_symmetric = torch.equal(mixing, mixing.T)  # then LAPACK always finds them, also where many are equal
    values = torch.linalg.eigvalsh(mixing) if is_symmetric else torch.linalg.eigvals(mixing)
    magnitudes = values.abs().sort(descending=True).values
    return float(magnitudes[1]) if len(magnitudes) > 1 else 0.0


def spectral_gap(mixing: Tensor) -> float:
    """The spectral gap of a mixing matrix, 1 - |λ₂|."""
    return 1 - second_eigenvalue(mixing)


def neighbours(mixing: Tensor) -> int:
    """The in-degree of a mixing matrix: the largest number of ranks that one rank receives from."""
    return int(((mixing != 0).sum(1) - (mixing.diagonal() != 0).int()).max())


# ---- the circulant matrix with the largest gap
#
# A *circulant* matrix looks the same from each rank: i averages with i + s and i - s (mod K) for each of some steps s.
# Equal weights 1/(n + 1), for itself and n neighbours, make its eigenvalues cosines:
#
#     λ_k = (1 + sum of 2·cos(2πks/K) over the steps s) / (n + 1)        k = 0 ... K - 1; λ_0 = 1
#
# with 1·cos(πk) for the step s = K/2, at which both neighbours are one. There are few choices of steps: try them all.
#
# Other graphs with other weights can do better: the weights that are best for a given graph are found by semidefinite
# programming (Xiao and Boyd 2004), the best graphs are not known in general.


def best_mixing(ranks: int, degree: int) -> list[list[float]]:
    """The circulant matrix with equal weights and at most ``degree`` neighbours that has the largest spectral gap, as K
    rows of K numbers. Among equally good ones, the one with the fewest and smallest steps."""
    steps = min(step_sets(ranks, degree), key=lambda steps: round(circulant_second(ranks, steps), 12))
    return circulant(ranks, steps)


def step_sets(ranks: int, degree: int) -> list[tuple[int, ...]]:
    """The sets of steps that give each rank at most ``degree`` neighbours."""
    steps = range(1, ranks // 2 + 1)
    sets = [chosen for n in range(len(steps) + 1) if 2 * n - 1 <= degree for chosen in combinations(steps, n)]
    return [chosen for chosen in sets if neighbours_of_steps(ranks, chosen) <= degree]


def neighbours_of_steps(ranks: int, steps: Sequence[int]) -> int:
    """How many neighbours a rank has by these steps: two for each, but one for the step K/2."""
    return sum(1 if 2 * s == ranks else 2 for s in steps)


def circulant_second(ranks: int, steps: Sequence[int]) -> float:
    """|λ₂| of the circulant matrix with equal weights; 0 for one rank."""
    parts = neighbours_of_steps(ranks, steps) + 1
    rows = [[math.cos(2 * math.pi * k * s / ranks) * (1 if 2 * s == ranks else 2) for s in steps]
            for k in range(1, ranks)]  # fmt: skip
    return max((abs(1 + math.fsum(row)) / parts for row in rows), default=0.0)


def circulant(ranks: int, steps: Sequence[int]) -> list[list[float]]:
    """The circulant matrix of these steps, with equal weights."""
    near = {0, *steps, *(ranks - s for s in steps)}
    return [[1 / len(near) if (j - i) % ranks in near else 0.0 for j in range(ranks)] for i in range(ranks)]
