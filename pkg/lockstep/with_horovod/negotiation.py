"""Horovod's coordinator: ranks have their tensors ready in different orders, and all-reduce them in one.

In every cycle each rank tells rank 0 which tensors have become ready. Rank 0 counts, and answers with the names of
those that are ready on all ranks now, in one order. All ranks all-reduce these in that order:

    cycle   rank 0     rank 1     to rank 0           its answer     all-reduced
    0       a          b          a (0), b (1)        -
    1       b, c       c          b, c (0), c (1)     b, c           b, c
    2       -          a          a (1)               a              a

Source: Horovod 0.28.1, horovod/common/controller.h, ComputeResponseList; there a rank asks for an operation on a tensor
of a shape and a dtype, and what is answered for one cycle is fused. Sergeev and Del Balso, Horovod, 2018
(arXiv:1802.05799).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import torch.distributed as dist
from torch import Tensor

from lockstep.errors import UsageError

Cycle = dict[str, Tensor]  # by name what became ready, in this rank's order
Requests = list[str] | None  # the names; None from a rank that has no more cycles


def negotiate(cycles: Iterable[Cycle], group: dist.ProcessGroup | None = None) -> list[str]:
    """All-reduce (sum, in place) what the cycles of all ranks make ready, and return the names in the order in which
    that was done: the same on every rank of the group.

    ``cycles`` gives, for each cycle, what became ready on this rank. Ranks may have different numbers of them. A cycle
    is taken when all that was ready before has been all-reduced.

    K ranks: 2(K - 1) control messages a cycle, K - 1 to rank 0 and K - 1 from it, beside the lengths that come before.
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
    """What rank 0 knows: on how many of the ranks each tensor is ready."""

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
    """Raises UsageError for what is left when no rank has any more cycles."""
    if ready:
        raise UsageError(f"{min(ready)!r} is ready on rank {dist.get_rank()}, and not on all ranks of the group.")


def gathered(own: Requests, group: dist.ProcessGroup | None) -> list[Requests]:
    """The requests of all ranks on rank 0 of the group; nothing elsewhere."""
    of_ranks: list[Requests] = [None] * dist.get_world_size(group) if dist.get_rank(group) == 0 else []
    dist.gather_object(own, of_ranks or None, group=group, group_dst=0)
    return of_ranks


def broadcast(own: Requests, group: dist.ProcessGroup | None) -> Requests:
    """The answer of rank 0 of the group, on all its ranks."""
    answer = [own]
    dist.broadcast_object_list(answer, group=group, group_src=0)
    return answer[0]
