"""Horovod's negotiation: ranks have their tensors ready in different orders, and all-reduce them in the same one.

In every cycle each rank reports to the *coordinator*, rank 0, which tensors have become ready. The coordinator counts,
and answers with the names of those that are now ready on all ranks. All ranks all-reduce these in the order of the
answer:

    cycle   rank 0     rank 1     to rank 0           its answer     all-reduced
    0       a          b          a (0), b (1)        -
    1       b, c       c          b, c (0), c (1)     b, c           b, c
    2       -          a          a (1)               a              a

A training step all-reduces the same tensors as the one before, so a *response cache* replaces their names by bits. The
coordinator negotiates the first step. Its answers reached all ranks in the same order, so from then on every rank has
the same number for each name. In every later cycle each rank sets the bits of what it has ready, and a bitwise AND of
these bits, an all-reduce, leaves those that are ready on all ranks, without any coordinator. Only when some rank has a
tensor that is not in the cache is the coordinator asked as well.

Sources: Horovod 0.28.1, horovod/common/controller.h, ComputeResponseList (there a request also has the operation, shape
and dtype, and what is answered in one cycle is fused), and response_cache.cc, CacheCoordinator::sync (there four status
bits precede those of the tensors, NUM_STATUS_BITS in response_cache.h; here two: "all that I have is cached", "I am
done"). Sergeev and Del Balso, Horovod, 2018 (arXiv:1802.05799); Romero et al., Accelerating Collective Communication in
Data Parallel Training across Deep Learning Frameworks, NSDI 2022.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.errors import UsageError

Cycle = dict[str, Tensor]  # by name what became ready, in this rank's order
Requests = list[str] | None  # the names; None from a rank that has no more cycles

WORD = 63  # bits of an int64 that are used: the last one is its sign
CACHED, DONE = 0, 1  # status bits, before those of the tensors
STATUS = 2


def negotiate(cycles: Iterable[Cycle], group: dist.ProcessGroup | None = None) -> list[str]:
    """All-reduce (sum, in place) the tensors that become ready in the cycles of all ranks, and return their names in
    the order in which that was done: the same on every rank of the group.

    ``cycles`` gives, for each cycle, what became ready on this rank. Ranks may have different numbers of them. A cycle
    is taken when all that was ready before has been all-reduced.

    K ranks: 2(K - 1) control messages a cycle, K - 1 to rank 0 and K - 1 from it, besides the lengths sent before them.
    Raises UsageError for a tensor that is ready twice before it is all-reduced, or that is never ready on all ranks.
    """
    coming, ready, order = iter(cycles), Cycle(), list[str]()
    coordinator = Coordinator(dist.get_world_size(group))
    answer: Requests = []
    while answer is not None:
        requests = gathered(taken(coming, ready), group)
        answer = broadcast(coordinator.answer(requests) if requests else None, group)
        for name in answer or []:
            dist.all_reduce(ready.pop(name), group=group)
            order.append(name)
    check_all_reduced(ready)
    return order


class Coordinator:
    """The coordinator's table, on rank 0: on how many of the ranks each tensor is ready."""

    def __init__(self, ranks: int) -> None:
        self._ranks = ranks
        self._ready: dict[str, int] = {}

    def answer(self, requests: Sequence[Requests]) -> Requests:
        """The names that are ready on all ranks with these requests, in the order in which that came to be known; None
        when no rank has any more cycles."""
        if all(of_rank is None for of_rank in requests):
            return None
        complete = []
        for name in [name for of_rank in requests for name in of_rank or []]:
            self._ready[name] = self._ready.get(name, 0) + 1
            if self._ready[name] == self._ranks:
                complete.append(name)
                del self._ready[name]
        return complete


def taken(coming: Iterator[Cycle], ready: Cycle) -> Requests:
    """The names of this rank's next cycle, whose tensors are ``ready`` now; None if there is no next one."""
    new = next(coming, None)
    if twice := ready.keys() & (new or {}).keys():
        raise UsageError(f"{min(twice)!r} is ready twice, and was not all-reduced in between.")
    ready |= new or {}
    return None if new is None else list(new)


def check_all_reduced(ready: Cycle) -> None:
    """Raises UsageError if tensors are left ready when no rank has any more cycles."""
    if ready:
        raise UsageError(f"{min(ready)!r} is ready on rank {dist.get_rank()}, and not on all ranks of the group.")


def gathered(own: Requests, group: dist.ProcessGroup | None) -> list[Requests]:
    """The requests of all ranks, gathered on rank 0 of the group; [] on the others."""
    of_ranks: list[Requests] = [None] * dist.get_world_size(group) if dist.get_rank(group) == 0 else []
    dist.gather_object(own, of_ranks or None, group=group, group_dst=0)
    return of_ranks


def broadcast(own: Requests, group: dist.ProcessGroup | None) -> Requests:
    """The answer of rank 0 of the group, broadcast to all its ranks."""
    answer = [own]
    dist.broadcast_object_list(answer, group=group, group_src=0)
    return answer[0]


# ---- the response cache


def negotiate_with_cache(steps: Iterable[Iterable[Cycle]], group: dist.ProcessGroup | None = None) -> list[list[str]]:
    """``negotiate`` for several steps in a row, with a response cache: for each step the names in the order in which
    they were all-reduced. Each tensor of a step must be ready on all ranks before the step ends. Raises what
    ``negotiate`` raises."""
    cache: dict[str, int] = {}  # the number of each name: the same on every rank
    return [_step(cycles, cache, group) for cycles in steps]


def _step(cycles: Iterable[Cycle], cache: dict[str, int], group: dist.ProcessGroup | None) -> list[str]:
    coming, ready, order = iter(cycles), Cycle(), list[str]()
    coordinator = Coordinator(dist.get_world_size(group))
    while True:
        new = taken(coming, ready)
        uncached = [name for name in new or [] if name not in cache]
        hits = {STATUS + cache[name] for name in ready if name in cache}
        status = {bit for bit, is_set in ((CACHED, not uncached), (DONE, new is None)) if is_set}
        common = on_all(hits | status, STATUS + len(cache), group)
        if DONE in common:
            check_all_reduced(ready)
            return order
        names = [name for name, number in cache.items() if STATUS + number in common]
        if CACHED not in common:
            requests = gathered(uncached, group)
            complete = broadcast(coordinator.answer(requests) if requests else None, group) or []
            names += complete
            cache.update({name: len(cache) + n for n, name in enumerate(complete)})
        for name in names:
            dist.all_reduce(ready.pop(name), group=group)
            order.append(name)


def on_all(bits: set[int], size: int, group: dist.ProcessGroup | None) -> set[int]:
    """Which of ``size`` bits are set on every rank: one all-reduce of 8 bytes for every 63 of them."""
    words = [sum(1 << bit % WORD for bit in bits if bit // WORD == word) for word in range(-(-size // WORD))]
    vector = torch.tensor(words)
    dist.all_reduce(vector, op=dist.ReduceOp.BAND, group=group)
    return {bit for bit in range(size) if int(vector[bit // WORD]) >> bit % WORD & 1}
