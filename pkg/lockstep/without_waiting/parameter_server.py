"""Parameter servers: some ranks hold the parameters, all others compute gradients, and nobody has to wait for all.

    worker                         server, rank 0 of the group
      │ ◄────────── w ──────────────── │   w, as it is now
      │  g = gradient(w, step)         │   meanwhile it serves the others
      │ ── is there more?, g ────────► │   w <- w - rate·g, at once

A worker's *clock* is the number of steps that it has done. Bounded staleness (stale synchronous parallel, SSP): a
worker begins its step c when every other worker has done at least c - bound steps, or all of its own.

    bound = 0         lockstep: all gradients of a step are of the same w, as with one minibatch for all
    bound = infinity  asynchronous: nobody ever waits, and a w may miss any number of the others' steps

Only the server's w is *the* value of the parameters. A worker's w is older, by as many updates as the server has made
since it sent it: the *staleness* of the gradient. Here it is read off the trace of a run, exactly:

    rank 0     send w to 1    send w to 2    recv g from 2    send w to 2    recv g from 2    recv g from 1
    updates        0              0                0              1                1                2
    staleness                                      0                               0                2

With several servers each has a *shard* of w, and every worker talks to all of them:

    ranks 0 ... S-1        server s has shard s of w, of about |w|/S numbers, and serves it as if it were all of w
    ranks S ... K-1        a worker gets all shards, computes one gradient, and sends each server its part

The ingress of one server then no longer carries everything. The price: servers do not agree on an order of updates. The
shards that a worker gets may be of different ages, so that the w it computes with never was the value of the
parameters. (Each server keeps the bound for itself.)

Cost of one server: two messages a step, of |w| numbers and of |w| + 1. Of S servers: 2·S messages a step and worker,
which carry |w| numbers and |w| + S.
Sources: Q. Ho et al., More Effective Distributed ML via a Stale Synchronous Parallel Parameter Server, NIPS 2013;
M. Li et al., Scaling Distributed Machine Learning with the Parameter Server, OSDI 2014, sections 3 and 4 (several
servers); asynchronous: J. Dean et al., Large Scale Distributed Deep Networks, NIPS 2012 (Downpour SGD).
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from random import Random

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.events import Trace
from lockstep.machines import alpha_beta
from lockstep.tables import Table
from lockstep.without_waiting.local_sgd import Gradient
from lockstep.worlds import run

Staleness = Counter[int]  # {updates between sending w and receiving its gradient: number of gradients}


def parameter_server(
    gradient: Gradient,
    w: Tensor,
    steps: int | None,
    rate: float,
    bound: float,
    group: dist.ProcessGroup | None = None,
) -> Tensor:
    """SGD with a parameter server and bounded staleness: on the server, rank 0 of the group, w after all gradients of
    all workers; on a worker the last w that it received.

    ``steps`` is the worker's own number of steps, which may be 0, and None on the server. ``w`` stays as it was."""
    if dist.get_rank(group) > 0:
        return work(gradient, w, steps or 0, group)
    return serve(w, rate, bound, members(group)[1:], group)[0]


def asynchronous(
    gradient: Gradient, w: Tensor, steps: int | None, rate: float, group: dist.ProcessGroup | None = None
) -> Tensor:
    """Asynchronous SGD: the parameter server without a bound, for which no worker ever waits."""
    return parameter_server(gradient, w, steps, rate, math.inf, group)


def work(gradient: Gradient, w: Tensor, steps: int, group: dist.ProcessGroup | None = None, server: int = 0) -> Tensor:
    """A worker's part, with the server of that rank in the group; the last w received. A worker without steps sends one
    message that says so."""
    for step in range(max(1, steps)):
        w = torch.empty_like(w, memory_format=torch.contiguous_format)
        dist.recv(w, group=group, group_src=server)
        g = gradient(w, step) if steps else torch.zeros_like(w)
        more = w.new_tensor([step + 1 < steps])
        dist.send(torch.cat([more, g.flatten()]), group=group, group_dst=server)
    return w


def serve(
    w: Tensor, rate: float, bound: float, workers: Iterable[int], group: dist.ProcessGroup | None = None
) -> tuple[Tensor, Staleness]:
    """The server's part: serve ``workers``, given by global rank, until each has said that it is done. Returns w and
    how stale the gradients were."""
    clock = dict.fromkeys(workers, 0)  # of those that are not done: steps
    waiting = list(clock)
    version, staleness = 0, Staleness()  # the number of updates made
    sent = dict[int, tuple[dist.Work | None, int]]()  # w on its way to a worker, and its version
    message = w.new_empty(1 + w.numel())
    while clock:
        allowed = [r for r in waiting if clock[r] - bound <= min(clock.values())]
        for r in allowed:
            sent[r] = dist.isend(w.contiguous(), r, group=group), version
        waiting = [r for r in waiting if r not in allowed]
        r = dist.recv(message, group=group)  # from whoever is first, while those w travel
        more, g = message[0], message[1:].view(w.shape)
        w = w - rate * g
        travelled, before = sent.pop(r)
        staleness[version - before] += 1
        version += 1
        if travelled:
            travelled.wait()  # it is there: this is its gradient
        if more:
            clock[r] += 1
            waiting.append(r)
        else:
            del clock[r]  # nobody waits for who is done
    return w, staleness


def synchronous(
    gradient: Gradient, w: Tensor, steps: int, rate: float, group: dist.ProcessGroup | None = None
) -> Tensor:
    """Synchronous SGD with a parameter server: in each step it takes one gradient of every worker, in the order of
    their ranks, and makes a step by their mean. That is sequential minibatch SGD, to the bit. All ranks have the same
    ``steps``, the server too, and all return the last w."""
    workers = members(group)[1:]
    for step in range(steps if workers else 0):
        if dist.get_rank(group) > 0:
            dist.send(gradient(w, step).contiguous(), group=group, group_dst=0)
            w = torch.empty_like(w, memory_format=torch.contiguous_format)
            dist.recv(w, group=group, group_src=0)
        else:
            gradients = [torch.empty_like(w, memory_format=torch.contiguous_format) for _ in workers]
            for r, g in zip(workers, gradients, strict=True):
                dist.recv(g, r, group=group)
            w = (w - rate * torch.stack(gradients).mean(0)).contiguous()
            for r in workers:
                dist.send(w, r, group=group)
    return w


def members(group: dist.ProcessGroup | None) -> list[int]:
    """The global ranks of a group, in the order of their ranks in it."""
    return dist.get_process_group_ranks(group or dist.group.WORLD)


# ---- how stale each gradient was


def staleness_of(trace: Trace) -> dict[int, int]:
    """{staleness: number of gradients}, from the trace of a run in which rank 0 is the server: it makes an update for
    each gradient that it receives, and a gradient is as stale as updates were made since its w was sent. All that rank
    0 sends is w, all that it receives are gradients; a worker that sends one before it has got a w has the first w."""
    received, sent, found = 0, Counter[int | None](), Counter[int]()  # gradients; how many when each rank got its w
    for event in trace.of_rank(0):
        if event.kind == "send":
            sent[event.peer] = received
        elif event.kind == "recv":
            found[received - sent[event.peer]] += 1
            received += 1
    return dict(found)


# ---- several servers


def several_servers(
    gradient: Gradient,
    w: Tensor,
    steps: int | None,
    rate: float,
    bound: float,
    servers: int,
    group: dist.ProcessGroup | None = None,
) -> Tensor:
    """SGD with ``servers`` parameter servers: on server s, rank s of the group, its shard after all gradients, flat, so
    that ``torch.cat`` of them is w; on a worker the last w that it received. Otherwise as ``parameter_server``."""
    rank = dist.get_rank(group)
    shards = w.flatten().tensor_split(servers)
    if rank < servers:
        return serve(shards[rank], rate, bound, members(group)[servers:], group)[0]
    return _work(gradient, w, steps or 0, shards, group)


def _work(
    gradient: Gradient, w: Tensor, steps: int, shards: Sequence[Tensor], group: dist.ProcessGroup | None
) -> Tensor:
    """A worker's part. Shards may arrive in any order; parts of the gradient are sent one after the other, and workers
    begin with different servers."""
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
    """For each w that worker 0 gets, how many updates each of its shards has had. Where the numbers differ, a single
    server could never have sent this w."""
    values = run(_counting, steps, servers, ranks=servers + workers, on=alpha_beta(1e-3, 1e-9)).values
    rows = [[str(step), *(str(n) for n in versions), "yes" if len(set(versions)) == 1 else "no"]
            for step, versions in enumerate(values[servers])]  # fmt: skip
    head = ["step", *(f"updates of shard {s}" for s in range(servers)), "equally old?"]
    return Table(f"The w that worker 0 gets: {workers} workers, {servers} servers, asynchronous", head, rows)


def _counting(steps: int, servers: int) -> list[list[int]]:
    """The program of every rank: each gradient is a 1 for each server, so that a shard counts its updates. On a worker,
    by step, the counts that it has got."""
    seen, rank = list[list[int]](), dist.get_rank()
    dice = Random(rank)

    def gradient(w: Tensor, step: int) -> Tensor:
        seen.append([int(-n) for n in w.tolist()])
        time.sleep(dice.uniform(0, 4e-3))  # each takes another time
        return torch.ones_like(w)

    several_servers(gradient, torch.zeros(servers), None if rank < servers else steps, 1.0, math.inf, servers)
    return seen
