"""Gossip: no rank ever sees the mean of all. Each averages with its neighbours, again and again, and all come to agree.

    K   ranks of the group         W   mixing matrix, K x K: W[i, j] is the weight of rank j's numbers at rank i
    x   this rank's numbers        γ   the learning rate

One step of gossip, x_i <- sum of W[i, j]·x_j over j:

    (1)  send x to each rank i with W[i, r] ≠ 0, and receive from each rank j with W[r, j] ≠ 0, all at the same time
    (2)  the sum of what is here, by its weights

Decentralised parallel SGD is that and a step of SGD, each rank on data of its own:

    (3)  g <- gradient at this rank's own x
    (4)  x <- sum of W[i, j]·x_j - γ·g

A rank sends and receives as many messages as it has neighbours, however many ranks there are, and waits for nobody
else. A parameter server sends and receives K - 1. The price: models differ. How much is what ``consensus`` measures.

Cost of a step: one message of |x| numbers for each non-zero of W off the diagonal.
Source: X. Lian, C. Zhang, H. Zhang, C.-J. Hsieh, W. Zhang and J. Liu, Can Decentralized Algorithms Outperform
Centralized Algorithms? NeurIPS 2017, arXiv:1705.09056, Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from torch import Tensor

Gradient = Callable[[Tensor, int], Tensor]  # of the parameters, for this rank's step of that number
Mixing = Tensor | Sequence[Tensor]  # one matrix for all steps, or several that are used by turns


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
    """Begin to send x and to receive the neighbours': where theirs will be, by rank, and what to wait for."""
    r, weights = dist.get_rank(group), mixing.tolist()
    others = [j for j in range(dist.get_world_size(group)) if j != r]
    outgoing = x.contiguous()  # as a message must be
    arrived = {j: torch.empty_like(outgoing) for j in others if weights[r][j]}
    posted = [dist.P2POp(dist.isend, outgoing, group=group, group_peer=i) for i in others if weights[i][r]]
    posted += [dist.P2POp(dist.irecv, theirs, group=group, group_peer=j) for j, theirs in arrived.items()]
    return arrived, dist.batch_isend_irecv(posted) if posted else []


def mixed(x: Tensor, mixing: Tensor, arrived: dict[int, Tensor], group: dist.ProcessGroup | None) -> Tensor:
    """The weighted sum of x and of what has arrived. In the order of the ranks, so that ranks which hear the same with
    the same weights get the same bits."""
    r = dist.get_rank(group)
    weights = mixing[r].tolist()
    total = torch.zeros_like(x, memory_format=torch.contiguous_format)
    for j, numbers in sorted((arrived | {r: x}).items()):
        total += weights[j] * numbers
    return total
