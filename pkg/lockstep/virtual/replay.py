"""Run each distinct stage once, and replay its costs for its symmetric ranks and for every micro-batch.

At GPT-3's size a step has millions of operations, and a fake one still costs the host 100 µs. But the layers of a
stage do the same for each micro-batch and on each replica:

    stage = run(forward, ranks=8, on="dgx-a100", fake=True).trace      one stage, once, on its 8 tensor-parallel ranks

    def pipeline():                                                   in a second fake run, on all ranks
        tensor_parallel = ...                                         a group of 8
        for _ in range(micro_batches):
            dist.recv(x, before)
            replay(stage.of_rank(dist.get_rank(tensor_parallel)), tensor_parallel)
            dist.send(x, after)

(Measured on 2 busy cores: 12 layers of GPT-3 forward on 8 ranks in 3 s; 8 such stages, 16 micro-batches, 64 ranks,
52,000 events, in 8 s.)

Computation between two communications is one event: replaying it costs next to nothing. Communication takes place
again, on ``group`` and over its links. Times and traffic are those of the run in full; memory is not replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
import torch.distributed as dist
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from lockstep.errors import UsageError
from lockstep.events import Event
from lockstep.virtual.fake import FakeClock

Post = Callable[[Event, Any], Any]  # (what was done, the group that does it again) → Work


def replay(events: Iterable[Event], group: dist.ProcessGroup | None = None) -> None:
    """Let the calling rank do in virtual time what ``events`` tell of one rank of an earlier run.

    ``group`` stands for all ranks of that run, in order. What the earlier rank did beside communication that was still
    under way, it does again beside it."""
    clock, under_way = clock_of_this_rank(), list[tuple[float, Any]]()
    for event in sorted(events, key=lambda e: (e.posted, e.kind == "compute")):  # posted, then computed beside it
        under_way = wait_for(under_way, until=event.posted)
        if event.kind == "compute":
            clock.spend(event.name, event.duration, event.flops)
        else:
            check(event, group)
            under_way.append((event.end, POSTS[event.kind](event, group)))
    wait_for(under_way, until=float("inf"))


def wait_for(under_way: list[tuple[float, Any]], until: float) -> list[tuple[float, Any]]:
    """Wait for the communication that had ended by then; what is left."""
    for end, work in under_way:
        if end <= until:
            work.wait()
    return [(end, work) for end, work in under_way if end > until]


def clock_of_this_rank() -> FakeClock:
    for mode in _get_current_dispatch_mode_stack():
        if isinstance(mode, FakeClock):
            return mode
    raise UsageError("replay is for ranks of a fake run.", 'Write run(..., on="dgx-a100", fake=True).')


def check(event: Event, group: dist.ProcessGroup | None) -> None:
    size = dist.get_world_size(group)
    if event.group != tuple(range(size)):
        raise UsageError(
            f"The recorded {event.kind} was among ranks {event.group}, and this group has {size}.",
            "Record the stage in a run of its own, with as many ranks as the group has and no smaller groups.",
        )


def payload(nbytes: int) -> torch.Tensor:
    return torch.empty(nbytes, dtype=torch.uint8)


def pieces(event: Event, group: Any) -> list[torch.Tensor]:
    return [payload(event.nbytes // dist.get_world_size(group))] * dist.get_world_size(group)


def root(event: Event, group: Any) -> dict[str, Any]:
    return {"group": group, "async_op": True, "group_src": event.peer}


def all_gather(event: Event, group: Any) -> Any:
    return dist.all_gather_into_tensor(payload(event.nbytes), pieces(event, group)[0], group, async_op=True)


def reduce_scatter(event: Event, group: Any) -> Any:
    return dist.reduce_scatter_tensor(pieces(event, group)[0], payload(event.nbytes), group=group, async_op=True)


def scatter(event: Event, group: Any) -> Any:
    if dist.get_rank(group) != event.peer:
        return dist.scatter(payload(event.nbytes), None, **root(event, group))
    mine = pieces(event, group)
    return dist.scatter(mine[0], mine, **root(event, group))


def gather(event: Event, group: Any) -> Any:
    to = {"group": group, "async_op": True, "group_dst": event.peer}
    if dist.get_rank(group) != event.peer:
        return dist.gather(payload(event.nbytes), None, **to)
    mine = pieces(event, group)
    return dist.gather(mine[0], mine, **to)


POSTS: Mapping[str, Post] = {
    "send": lambda e, g: dist.isend(payload(e.nbytes), group=g, tag=e.tag, group_dst=e.peer),
    "recv": lambda e, g: dist.irecv(payload(e.nbytes), group=g, tag=e.tag, group_src=e.peer),
    "broadcast": lambda e, g: dist.broadcast(payload(e.nbytes), **root(e, g)),
    "reduce": lambda e, g: dist.reduce(payload(e.nbytes), group=g, async_op=True, group_dst=e.peer),
    "all_reduce": lambda e, g: dist.all_reduce(payload(e.nbytes), group=g, async_op=True),
    "all_gather": all_gather,
    "reduce_scatter": reduce_scatter,
    "scatter": scatter,
    "gather": gather,
    "all_to_all": lambda e, g: dist.all_to_all(pieces(e, g), pieces(e, g), group=g, async_op=True),
    "barrier": lambda e, g: dist.barrier(group=g, async_op=True),
}
