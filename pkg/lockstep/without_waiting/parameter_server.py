"""The parameter server: one rank has the parameters, all others compute gradients, and nobody need wait for everybody.

    worker                         server, rank 0 of the group
      │ ◄────────── w ──────────────── │   w, as it is now
      │  g = gradient(w, step)         │   meanwhile it serves the others
      │ ── is there more?, g ────────► │   w <- w - rate·g, at once

A worker's *clock* is the number of steps that it has done. Bounded staleness (stale synchronous parallel, SSP): a
worker begins its step c when each other worker has done at least c - bound steps, or all of its own.

    bound = 0         lockstep: all gradients of a step are of the same w, as with one minibatch for all
    bound = infinity  asynchronous: nobody ever waits, and a w may miss any number of the others' steps

Only the server's w is *the* value of the parameters. What a worker has is older, by as many updates as the server has
made since it sent it: the *staleness* of the gradient.

Cost: two messages a step, of |w| numbers and of |w| + 1.
Sources: Q. Ho et al., More Effective Distributed ML via a Stale Synchronous Parallel Parameter Server, NIPS 2013;
M. Li et al., Scaling Distributed Machine Learning with the Parameter Server, OSDI 2014; asynchronous: J. Dean et al.,
Large Scale Distributed Deep Networks, NIPS 2012 (Downpour SGD).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable

import torch
import torch.distributed as dist
from torch import Tensor

Gradient = Callable[[Tensor, int], Tensor]  # of the parameters, for the worker's step of that number: 0, 1, ...
Staleness = Counter[int]  # {updates between sending w and receiving its gradient: number of gradients}


def parameter_server(
    gradient: Gradient,
    w: Tensor,
    steps: int | None,
    rate: float,
    bound: float,
    group: dist.ProcessGroup | None = None,
) -> Tensor:
    """w after all gradients of all workers on the server, which is rank 0 of the group; the last w received on others.

    ``steps`` is the worker's own number of steps, 0 too, and None on the server. ``w`` stays as it was."""
    if dist.get_rank(group) > 0:
        return work(gradient, w, steps or 0, group)
    return serve(w, rate, bound, members(group)[1:], group)[0]


def asynchronous(
    gradient: Gradient, w: Tensor, steps: int | None, rate: float, group: dist.ProcessGroup | None = None
) -> Tensor:
    """The parameter server that never lets anybody wait."""
    return parameter_server(gradient, w, steps, rate, math.inf, group)


def work(gradient: Gradient, w: Tensor, steps: int, group: dist.ProcessGroup | None = None, server: int = 0) -> Tensor:
    """A worker of the server with that rank in the group. One without steps only says so."""
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
    """Serve ``workers``, which are global ranks, until each has said that there is no more; w then, and how stale their
    gradients were."""
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
    """A server that waits for all: each step it takes the gradients rank by rank, and goes by their mean. That is
    sequential minibatch SGD, to the bit. All ranks have the same ``steps`` here, the server too; all get the last w."""
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
    """The global ranks of a group, by their ranks in it."""
    return dist.get_process_group_ranks(group or dist.group.WORLD)
