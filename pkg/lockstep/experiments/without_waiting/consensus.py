"""How fast gossiping ranks come to agree: measured in runs, and compared with |λ₂|, which the matrix alone gives.

The *disagreement* is the root mean square of how far the ranks' numbers are from their mean. Near the end each step of
gossip multiplies it by |λ₂|, whatever the numbers were; in the first steps it shrinks faster.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.without_waiting.gossip import (
    Mixing,
    complete,
    exponential,
    gossip_step,
    one_peer_exponential,
    ring,
    second_eigenvalue,
    star,
    torus,
)
from lockstep.worlds import run

ENOUGH = 1e-3  # of the first disagreement: what the tables count steps to
NOTHING = 1e-12  # of the first disagreement: below it there is rounding alone
CLUSTER = "dgx-a100"
NUMEL = 64  # of each rank's tensor


@dataclass(frozen=True)
class Consensus:
    """A run of gossip: its disagreement after 0, 1, 2 ... steps, and how many tensors the busiest rank sent in a
    step."""

    graph: str
    mixing: Sequence[Tensor]  # used by turns
    disagreement: Sequence[float]
    sent: float

    @property
    def second_eigenvalue(self) -> float:
        """|λ₂| of the product of all the matrices, per step."""
        product = self.mixing[0]
        for W in self.mixing[1:]:
            product = W @ product
        found = second_eigenvalue(product)
        return found ** (1 / len(self.mixing)) if found > NOTHING else 0.0

    @property
    def rate(self) -> float | None:
        """The factor by which a step multiplied the disagreement, on average over the later half of the steps above
        rounding; None where there are too few of them."""
        kept = [d for d in self.disagreement if d > NOTHING * self.disagreement[0]]
        turns = len(self.mixing)
        last = (len(kept) - 1) // turns * turns
        first = last // 2 // turns * turns
        return (kept[last] / kept[first]) ** (1 / (last - first)) if last - first >= 2 else None

    @property
    def steps(self) -> int | None:
        """The number of steps until the disagreement was a thousandth of the first; None if so many were not made."""
        enough = ENOUGH * self.disagreement[0]
        return next((n for n, d in enumerate(self.disagreement) if d <= enough), None)


def graphs(ranks: int) -> dict[str, Mixing]:
    """The graphs that the tables compare, by name."""
    rows = max(r for r in range(1, math.isqrt(ranks) + 1) if ranks % r == 0)
    return {
        "ring": ring(ranks),
        "star": star(ranks),
        f"torus {rows} × {ranks // rows}": torus(rows, ranks // rows),
        "exponential": exponential(ranks),
        "one-peer exponential": one_peer_exponential(ranks),
        "complete": complete(ranks),
    }


def measured(ranks: int = 16, most: int = 150, tried: Mapping[str, Mixing] | None = None) -> list[Consensus]:
    """Gossip over each graph (by default ``graphs(ranks)``) on the virtual cluster: only averaging, no gradients. Ranks
    begin with random numbers. Each graph gets as many steps as |λ₂| requires, and at most ``most``."""
    return _compared(ranks, most) if tried is None else _each(tried, most)


@cache  # a lesson asks for one of them, and then for all
def _compared(ranks: int, most: int) -> list[Consensus]:
    return _each(graphs(ranks), most)


def _each(tried: Mapping[str, Mixing], most: int) -> list[Consensus]:
    return [consensus(name, mixing, most) for name, mixing in counted(tried.items(), "Gossiping", each=0.5)]


def consensus(name: str, mixing: Mixing, most: int = 150) -> Consensus:
    """The same over one graph."""
    matrices = [mixing] if isinstance(mixing, Tensor) else list(mixing)
    planned = Consensus(name, matrices, [], 0.0)
    second, turns = planned.second_eigenvalue, len(matrices)
    needed = math.ceil(1.1 * math.log(ENOUGH) / math.log(second)) if 0 < second < 1 else 0
    steps = min(most, max(needed, 2 * turns))
    result = run(gossip, matrices, steps, ranks=len(matrices[0]), on=CLUSTER)
    held = torch.stack(list(result.values))  # by rank and step
    disagreement = (held - held.mean(0)).square().mean((0, 2)).sqrt()
    sent = max(result.trace.sent(rank).nbytes for rank in range(len(matrices[0])))
    return replace(planned, disagreement=disagreement.tolist(), sent=sent / steps / held[0, 0].nbytes)


def gossip(matrices: Sequence[Tensor], steps: int) -> Tensor:
    """A program for every rank: what it holds after 0, 1, 2 ... steps, by step."""
    x = torch.randn(NUMEL, dtype=torch.float64, generator=torch.Generator().manual_seed(dist.get_rank()))
    held = [x]
    for step in range(steps):
        held.append(gossip_step(held[-1], matrices[step % len(matrices)]))
    return torch.stack(held)


def consensus_table(ranks: int = 16, most: int = 150) -> Table:
    """For each graph what a rank sends, |λ₂|, the measured rate, and the steps and tensors until the disagreement is a
    thousandth of the first."""
    head = ["graph", "tensors the busiest rank sends in a step", "|λ₂|",
            "measured: a step multiplies the disagreement by",
            "steps to 1/1000", "tensors it sends till then"]  # fmt: skip
    caption = f"Gossip among {ranks} ranks: |λ₂| is computed from the matrix, the rest was counted in runs."
    return Table(caption, head, [_told(one) for one in measured(ranks, most)])


def _told(one: Consensus) -> list[str]:
    steps, rate = one.steps, one.rate
    exact = next((n for n, d in enumerate(one.disagreement) if d <= NOTHING * one.disagreement[0]), None)
    return [
        one.graph,
        f"{one.sent:g}",
        f"{one.second_eigenvalue:.3f}",
        f"0 after step {exact}" if rate is None and exact else "" if rate is None else f"{rate:.3f}",
        f"more than {len(one.disagreement) - 1}" if steps is None else str(steps),
        "" if steps is None else f"{one.sent * steps:g}",
    ]
