"""Whose port is the bottleneck? The bytes that the busiest rank sends and receives in a step, counted in traces.

    each step, of N bytes            busiest rank, in and out
    parameter server                 2(K - 1)·N     it receives all gradients and sends all parameters
    ring all-reduce                  4(K - 1)/K·N
    gossip on a ring                 4·N            two neighbours, however many ranks there are

That is the argument of D-PSGD (Lian et al. 2017, Table 1): the busiest node talks to O(degree) others, and not to O(K).
Its authors compare with a parameter server. The ring all-reduce sends as few bytes; but all its ranks wait for each
other.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.collectives import ring_all_reduce, star_all_reduce
from lockstep.tables import Table
from lockstep.without_waiting.gossip import gossip_step, one_peer_exponential, ring
from lockstep.worlds import run

NUMEL = 1024


def ring_gossip(x: Tensor) -> Tensor:
    return gossip_step(x, ring(dist.get_world_size()))


def one_peer_gossip(x: Tensor) -> Tensor:
    return gossip_step(x, one_peer_exponential(dist.get_world_size())[0])


STEPS: dict[str, Callable[[Tensor], Tensor]] = {
    "parameter server": star_all_reduce,
    "ring all-reduce": ring_all_reduce,
    "gossip on a ring": ring_gossip,
    "one-peer exponential gossip": one_peer_gossip,
}


def busiest_port(step: str, ranks: int) -> float:
    """How many tensors the busiest rank sends and receives in one of ``STEPS``."""
    trace = run(once, step, ranks=ranks, on="dgx-a100").trace
    return max(trace.sent(r).nbytes + trace.received(r).nbytes for r in range(ranks)) / (4 * NUMEL)


def once(step: str) -> None:
    STEPS[step](torch.ones(NUMEL))


def ports_table(ranks: tuple[int, ...] = (4, 8, 16, 32)) -> Table:
    """For each of ``STEPS`` and each number of ranks, what goes through the busiest port."""
    rows = [[step, *(f"{busiest_port(step, K):.3g}" for K in ranks)] for step in STEPS]
    caption = "One step: tensors that the busiest rank sends and receives, counted in traces."
    return Table(caption, ["", *(f"{K} ranks" for K in ranks)], rows)
