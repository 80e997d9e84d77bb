"""In which order NCCL carries out what a rank has posted: a queue (a CUDA stream) for each pair, and one for a group.

    posted singly                  queue
    isend, irecv, send, recv       (group, rank, peer)     torch makes a communicator of two ranks for each pair
    batch_isend_irecv              (group, rank)           the whole batch is one entry
    a collective                   (group, rank)

An entry begins when the one before it is over. A message needs both of its ends to be at the front: so two ranks that
each post a send to the other, and then a receive, wait for ever (NVIDIA/nccl#479), unless the sends are buffered.
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
    """What is carried out at once."""

    batch: int
    operations: list[Operation] = field(default_factory=list)  # that are not over
    free: float | None = None  # from when on it may begin; None: what is before it is not over
    over: float = 0.0  # when the last one that is over was
    held: list[Ends] = field(default_factory=list)  # what has met, and may not begin yet


class Queues:
    """``resume(ends, moment)`` is called for what was held up, when it may begin at last."""

    def __init__(self, resume: Callable[[Ends, float], None]) -> None:
        self._resume = resume
        self._queues: dict[Key, deque[Entry]] = {}
        self._entries: dict[int, Entry] = {}  # by id of an operation that is not over

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
        """From when on they may begin; None if something else must be over first."""
        entries = [self._entries[id(o)] for o in ends if id(o) in self._entries]  # a buffered send is over
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
    """What all others in the queue wait for."""
    return queue[0].operations[0]
