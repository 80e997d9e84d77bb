"""Push-sum: the exact mean over one-way links, where no rank knows how many others there are or who sends to whom.

    r   this rank                    x, w   its value and its weight, first 1
    out(r)  the ranks it sends to    d + 1  in how many equal shares it splits them: one for itself

    (1)  split: x and w, both divided by d + 1
    (2)  send a share of both to each rank in out(r); receive from all that send here
    (3)  x and w are the sums of the own share and of what arrived
    (4)  after all rounds: the mean is x/w

A rank that splits what it has and sends all of it away changes no sum: the values of all ranks add up to the same as
before, and the weights to K. Ranks with many incoming links end with more of both, in the same proportion. So x/w is
the mean everywhere, though x alone is not. For x alone to be right, the weights of what *arrives* would have to sum to
1 as well, and a sender does not know how many others send to the same rank.

    weights of a step          every rank agrees      on the mean
    rows sum to 1              yes                    no: ranks with more outgoing links count more
    columns sum to 1           no                     their sum is right
    push-sum                   yes                    yes

Stochastic gradient push takes the gradient at x/w and steps on x:

    (5)  x <- x - γ·gradient(x/w), before (1)

Cost of a round: one message of |x| + 1 numbers for each link.
Sources: D. Kempe, A. Dobra and J. Gehrke, Gossip-Based Computation of Aggregate Information, FOCS 2003, protocol
Push-Sum; M. Assran, N. Loizou, N. Ballas and M. Rabbat, Stochastic Gradient Push for Distributed Deep Learning, ICML
2019, arXiv:1811.10792, Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.tables import Table
from lockstep.without_waiting.gossip import gossip_step
from lockstep.without_waiting.local_sgd import Gradient
from lockstep.worlds import run

Links = Sequence[Collection[int]]  # [i]: the ranks of the group to which i sends, never i itself

ONE_WAY: Links = ((1,), (2,), (3, 0), (0,))  # a ring and a short cut from 2 to 0


def push_sum(x: Tensor, sends_to: Links, rounds: int, group: dist.ProcessGroup | None = None) -> Tensor:
    """Push-sum: this rank's estimate of the mean of all ranks' x, better with each round, as a new tensor of x's shape
    and dtype. ``sends_to`` is the same on each rank, and every rank must be reachable from every other along it. ``x``
    stays as it was."""
    both = with_weight(x)
    for _ in range(rounds):
        both = push(both, sends_to, group)
    return ratio(both).view(x.shape)  # (4)


def stochastic_gradient_push(
    gradient: Gradient, w: Tensor, steps: int, rate: float, sends_to: Links, group: dist.ProcessGroup | None = None
) -> Tensor:
    """Stochastic gradient push, SGD over one-way links: this rank's parameters, value/weight, after so many steps.
    ``w`` stays as it was."""
    both = with_weight(w)
    for step in range(steps):
        both[:-1] -= rate * gradient(ratio(both).view(w.shape), step).flatten()  # (5)
        both = push(both, sends_to, group)
    return ratio(both).view(w.shape)


def push(both: Tensor, sends_to: Links, group: dist.ProcessGroup | None = None) -> Tensor:
    """One round of push-sum, for value and weight in one row of |x| + 1 numbers."""
    r = dist.get_rank(group)
    share = both / (len(sends_to[r]) + 1)  # (1)
    arrived = {j: torch.empty_like(share) for j, links in enumerate(sends_to) if r in links}
    posted = [dist.P2POp(dist.isend, share, group=group, group_peer=i) for i in sends_to[r]]  # (2)
    posted += [dist.P2POp(dist.irecv, theirs, group=group, group_peer=j) for j, theirs in arrived.items()]
    for work in dist.batch_isend_irecv(posted) if posted else []:
        work.wait()
    return torch.stack([share, *arrived.values()]).sum(0)  # (3)


def with_weight(x: Tensor) -> Tensor:
    """The elements of x with its weight, 1, appended: a new row."""
    return torch.cat([x.flatten(), x.new_ones(1)])


def ratio(both: Tensor) -> Tensor:
    """The values divided by the weight: the estimate of the mean."""
    return both[:-1] / both[-1]


def shares(sends_to: Links) -> Tensor:
    """The column-stochastic matrix of a round: rank i's numbers in d + 1 equal shares, so that each column sums to
    1."""
    mixing = torch.eye(len(sends_to), dtype=torch.float64)
    for i, links in enumerate(sends_to):
        mixing[list(links), i] = 1
    return mixing / mixing.sum(0)


def means(sends_to: Links) -> Tensor:
    """The row-stochastic matrix by which each rank takes the plain mean of its own numbers and those that it receives:
    each row sums to 1."""
    heard = (shares(sends_to) != 0).double()
    return heard / heard.sum(1, keepdim=True)


def one_way(sends_to: Links = ONE_WAY, rounds: int = 40) -> dict[str, list[float]]:
    """The number that each rank holds after so many rounds over one-way links, by kind of weights: rank i begins with i
    + 1."""
    by_rank = run(three_ways, sends_to, rounds, ranks=len(sends_to), on="dgx-a100").values
    return {name: [held[name] for held in by_rank] for name in by_rank[0]}


def three_ways(sends_to: Links, rounds: int) -> dict[str, float]:
    """The program of a rank for ``one_way``: gossip with row-stochastic weights, with column-stochastic ones, and
    push-sum."""
    start = torch.tensor([dist.get_rank() + 1.0], dtype=torch.float64)
    held = {}
    for name, mixing in (("rows sum to 1", means(sends_to)), ("columns sum to 1", shares(sends_to))):
        x = start
        for _ in range(rounds):
            x = gossip_step(x, mixing)
        held[name] = x.item()
    return held | {"push-sum": push_sum(start, sends_to, rounds).item()}


def one_way_table(sends_to: Links = ONE_WAY, rounds: int = 40) -> Table:
    """Plain gossip over one-way links ends at another value than the mean, whichever weights it has; push-sum ends at
    the mean."""
    ranks = len(sends_to)
    head = ["weights", *(f"rank {r}" for r in range(ranks)), "sum", "mean held"]
    rows = [[name, *(f"{x:.4f}" for x in held), f"{sum(held):.4f}", f"{sum(held) / ranks:.4f}"]
            for name, held in one_way(sends_to, rounds).items()]  # fmt: skip
    start = ", ".join(str(r + 1) for r in range(ranks))
    caption = f"One-way links, {rounds} rounds. Ranks begin with {start}, of which the mean is {(ranks + 1) / 2:g}."
    return Table(caption, head, rows)
