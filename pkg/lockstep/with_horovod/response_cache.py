"""Horovod's response cache: a training step all-reduces the same tensors as the one before, so a bit says a name.

The first step is negotiated by the coordinator. Its answers came to all ranks in one order, so from then on each rank
knows the same number for each name. In every later cycle each rank sets the bits of what it has ready, and a bitwise
AND of these bits, an all-reduce, leaves those that are ready on all. Nobody is asked. Only when some rank has a tensor
that is not in the cache does the coordinator get a turn, too.

Source: Horovod 0.28.1, horovod/common/response_cache.cc, CacheCoordinator::sync; Romero et al., Accelerating Collective
Communication in Data Parallel Training across Deep Learning Frameworks, NSDI 2022. Two bits come before those of the
tensors: "I have nothing that is not cached", "I am done". There they are four (NUM_STATUS_BITS in response_cache.h).
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
import torch.distributed as dist

from lockstep.with_horovod.negotiation import Coordinator, Cycle, broadcast, check_all_reduced, gathered, taken

WORD = 63  # bits of an int64 that are used: the last one is its sign
CACHED, DONE = 0, 1
STATUS = 2


def negotiate_with_cache(steps: Iterable[Iterable[Cycle]], group: dist.ProcessGroup | None = None) -> list[list[str]]:
    """As ``negotiate``, for several steps one after the other: for each the names in the order in which they were
    all-reduced. Each tensor of a step is ready on all ranks before the step ends. Raises what ``negotiate`` raises."""
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
