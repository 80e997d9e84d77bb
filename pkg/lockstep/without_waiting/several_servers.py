"""Several parameter servers: each has a shard of the parameters, and every worker talks to all of them.

    ranks 0 ... S-1        server s has shard s of w, of about |w|/S numbers, and serves it as if it were all of w
    ranks S ... K-1        a worker gets all shards, computes one gradient, and sends each server its part

The ingress of one server no longer carries everything. The price: servers do not agree on an order. The shards that a
worker gets may be of different ages, so that the w it computes with is one that never was the value of the parameters,
at any time. (Each server keeps the bound for itself.)

Cost: 2·S messages a step and worker, which carry |w| numbers and |w| + S.
Source: M. Li et al., Scaling Distributed Machine Learning with the Parameter Server, OSDI 2014, sections 3 and 4.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from random import Random

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.machines import alpha_beta
from lockstep.tables import Table
from lockstep.without_waiting.parameter_server import Gradient, members, serve
from lockstep.worlds import run


def several_servers(
    gradient: Gradient,
    w: Tensor,
    steps: int | None,
    rate: float,
    bound: float,
    servers: int,
    group: dist.ProcessGroup | None = None,
) -> Tensor:
    """On server s, rank s of the group, its shard after all gradients, flat: ``torch.cat`` of them is w. On workers
    the last w received. Otherwise as ``parameter_server``."""
    rank = dist.get_rank(group)
    shards = w.flatten().tensor_split(servers)
    if rank < servers:
        return serve(shards[rank], rate, bound, members(group)[servers:], group)[0]
    return _work(gradient, w, steps or 0, shards, group)


def _work(
    gradient: Gradient, w: Tensor, steps: int, shards: Sequence[Tensor], group: dist.ProcessGroup | None
) -> Tensor:
    """Shards come as they come; parts of the gradient go one after the other, and not all workers begin with the same
    server."""
    servers, rank = len(shards), dist.get_rank(group)
    for step in range(max(1, steps)):
        parts = [torch.empty_like(shard) for shard in shards]
        coming = [dist.irecv(part, group=group, group_src=s) for s, part in enumerate(parts)]
        for work in filter(None, coming):
            work.wait()
        w = torch.cat(parts).view(w.shape)
        g = gradient(w, step) if steps else torch.zeros_like(w)
        more, pushed = w.new_tensor([step + 1 < steps]), g.flatten().tensor_split(servers)
        for n in range(servers):
            s = (rank + n) % servers
            dist.send(torch.cat([more, pushed[s]]), group=group, group_dst=s)
    return w


def torn_table(workers: int = 4, steps: int = 6, servers: int = 2) -> Table:
    """How many updates the shards of each w have that worker 0 gets. Where they differ, one server could never have
    sent this w: each of several has its own order of updates."""
    values = run(_counting, steps, servers, ranks=servers + workers, on=alpha_beta(1e-3, 1e-9)).values
    rows = [[str(step), *(str(n) for n in versions), "yes" if len(set(versions)) == 1 else "no"]
            for step, versions in enumerate(values[servers])]  # fmt: skip
    head = ["step", *(f"updates of shard {s}" for s in range(servers)), "equally old?"]
    return Table(f"The w that worker 0 gets: {workers} workers, {servers} servers, asynchronous", head, rows)


def _counting(steps: int, servers: int) -> list[list[int]]:
    """A program for every rank. Each gradient is one for each server, so that a shard counts its updates."""
    seen, rank = list[list[int]](), dist.get_rank()
    dice = Random(rank)

    def gradient(w: Tensor, step: int) -> Tensor:
        seen.append([int(-n) for n in w.tolist()])
        time.sleep(dice.uniform(0, 4e-3))  # each takes another time
        return torch.ones_like(w)

    several_servers(gradient, torch.zeros(servers), None if rank < servers else steps, 1.0, math.inf, servers)
    return seen
