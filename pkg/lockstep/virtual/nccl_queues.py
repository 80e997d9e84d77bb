"""NCCL's order of execution: a queue (a CUDA stream) for each pair of ranks, and one for each group.

    posted individually            queue
    isend, irecv, send, recv       (group, rank, peer)     torch makes a communicator of two ranks for each pair
    batch_isend_irecv              (group, rank)           the whole batch is one entry
    a collective                   (group, rank)

An entry begins when the previous one is complete. A message can begin when both of its ends are at the front of their
queues. So two ranks that each post a send to the other, then a receive, deadlock (NVIDIA/nccl#479), unless the sends
are buffered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from lockstep.comm.operation import Operation
from lockstep.events import POINT_TO_POINT

Ends = tuple[Operation, ...]  # of a message, or the parts of a collective
Key = tuple[str, int, int | None]


@dataclass(eq=False, slots=True)
class Entry:
    """An entry of a queue: an operation, or a batch of them that is executed at once."""

    batch: int
    operations: list[Operation] = field(default_factory=list)  # not complete yet
    free: float | None = None  # when it may begin; None: an earlier entry is not complete
    over: float = 0.0  # when its last completed operation ended
    held: list[Ends] = field(default_factory=list)  # matched, but not allowed to begin yet


class Queues:
    """All queues. ``resume(ends, moment)`` is called when a delayed operation may begin."""

    def __init__(self, resume: Callable[[Ends, float], None]) -> None:
        self._resume = resume
        self._queues: dict[Key, deque[Entry]] = {}
        self._entries: dict[int, Entry] = {}  # by id of an operation that is not complete

    def post(self, operation: Operation) -> None:
        key = key_of(operation)
        queue = self._queues.setdefault(key, deque())
        operation.queue = "group" if key[2] is None else "pair"
        if queue and operation.batch and queue[-1].batch == operation.batch:
            entry = queue[-1]
        else:
            entry = Entry(operation.batch, free=None if queue else operation.posted)
            queue.append(entry)
        entry.operations.append(operation)
        self._entries[id(operation)] = entry
        if entry.free is None:
            operation.behind = partial(first, queue)

    def ready(self, ends: Ends) -> float | None:
        """When they may begin; None if another entry must complete first."""
        entries = [self._entries[id(o)] for o in ends if id(o) in self._entries]  # a buffered send is complete
        held = next((e for e in entries if e.free is None), None)
        if held is None:
            return max((e.free or 0.0 for e in entries), default=0.0)
        held.held.append(ends)
        for o in ends:
            o.together = ends
        return None

    def over(self, operation: Operation) -> None:
        entry = self._entries.pop(id(operation), None)
        if entry is None:
            return
        entry.operations.remove(operation)
        entry.over = max(entry.over, operation.end or 0.0)
        if not entry.operations:
            self._next(operation, entry)

    def _next(self, operation: Operation, entry: Entry) -> None:
        queue = self._queues[key_of(operation)]
        queue.remove(entry)
        if not queue:
            return
        following = queue[0]
        following.free = max(entry.over, following.operations[0].posted)
        for o in following.operations:
            o.behind = None
        for ends in following.held:
            moment = self.ready(ends)
            if moment is not None:
                self._resume(ends, max(moment, following.free))


def key_of(operation: Operation) -> Key:
    """The queue of an operation."""
    single = operation.kind in POINT_TO_POINT and not operation.batch
    return operation.group_name, operation.rank, operation.peer if single else None


def first(queue: deque[Entry]) -> Operation:
    """The operation that all others in the queue wait for."""
    return queue[0].operations[0]
