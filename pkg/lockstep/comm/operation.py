"""A communication operation of one rank: one end of a message, or its part in a collective.

Times are in seconds since the run began:

    posted      the rank called it
    start       it began: both ends of a message, or all parts of a collective, were posted, and their ports were free.
                None until then, and on real processes, where it cannot be observed
    end         the rank could use its result. None until then
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lockstep.deadlock_report import ANY_SOURCE, spelled
from lockstep.errors import Queue
from lockstep.events import POINT_TO_POINT, Event
from lockstep.places import NOWHERE, Place


@dataclass(eq=False, slots=True)
class Operation:
    """``rank``, ``peer`` and ``group`` are global ranks; ``peer`` is ANY_SOURCE, or a collective's root, or None."""

    rank: int
    kind: str
    posted: float
    nbytes: int
    peer: int | None
    group: tuple[int, ...]
    group_name: str
    tag: int = 0
    place: Place = NOWHERE  # the line that posted it
    number: int = 0  # counts a rank's operations in the order of posting
    fits: tuple[tuple[int, str], ...] = ()  # elements and dtype that must agree between the ranks
    reduction: str = ""  # "SUM", "MAX" ...; "" if there is none, or it is unknown
    sends: tuple[int, ...] = ()  # of an all_to_all: elements for each rank of the group,
    takes: tuple[int, ...] = ()  # and from each
    backend: str = "virtual"  # or "gloo", "nccl"
    batch: int = 0  # the same for all operations of a batch_isend_irecv; 0 for individual ones

    start: float | None = None
    end: float | None = None
    wait: float = 0.0  # seconds for which it has blocked the rank
    waiting: bool = False  # the rank is blocked in a wait for it,
    stands: Place = NOWHERE  # on this line
    awaited: bool = False  # the rank has waited for it, or polled it until it was complete
    changed: bool = False  # a tensor that it sends was modified before the rank had waited for it
    early: Place = NOWHERE  # the line that used a tensor of it before the rank had waited for it
    meanwhile: int | None = None  # FLOPs that the rank issued between posting it and waiting for it, if known
    polled: Place = NOWHERE  # where is_completed() was first called on it
    in_vain: bool = False  # the rank polls it unsuccessfully, and does nothing else

    message: int | None = None  # the same for both ends of a message, and for all parts of a collective
    together: Sequence[Operation] = ()  # the parts of a collective that are posted; both ends of a delayed message
    queue: Queue = ""  # the queue in which the backend executes it, if it does so in order
    behind: Callable[[], Operation] | None = None  # returns the first operation of its queue, while it is not first
    tensors: Any = None  # on the virtual cluster: what data_movement.py needs,
    copied: bool = False  # whether that is a copy, which nobody changes,
    withheld: bool = False  # whether what arrives is kept apart until the rank waits for it,
    landing: Any = None  # and what has arrived: (copy, tensor of the program)
    limit: float = float("inf")  # seconds for which its group lets it wait
    given_up: bool = False  # the rank has stopped waiting for it
    error: str = ""  # why it has failed, for the one who waits for it
    stretch: float = 1.0  # the factor of jitter on its time; a collective takes the largest of its parts
    turn: int = 0  # of a send: (destination - source) mod K, in ranks of the group

    @property
    def missing(self) -> tuple[int, ...]:
        """The ranks that have not joined the collective yet."""
        here = {part.rank for part in self.together}
        return tuple(r for r in self.group if r not in here)

    @property
    def waits_for(self) -> tuple[int, ...]:
        """The ranks whose action would complete this operation."""
        if self.kind not in POINT_TO_POINT:
            return self.missing
        if self.peer == ANY_SOURCE:
            return tuple(r for r in self.group if r != self.rank)
        return () if self.peer is None else (self.peer,)

    def __str__(self) -> str:
        return spelled(self.kind, self.peer, self.tag, self.group)

    def event(self, now: float) -> Event:
        """The operation as an Event. ``now``: the end of an operation that has not ended."""
        start = self.posted if self.start is None else self.start
        return Event(
            self.rank, self.kind, start, now if self.end is None else self.end, self.nbytes,
            None if self.peer == ANY_SOURCE else self.peer, self.group, self.tag, where=told(self.place),
            message=self.message, wait=self.wait, awaited=self.awaited or self.given_up, changed=self.changed,
            early=told(self.early),
            posting=None if start == self.posted else self.posted, backend=self.backend, meanwhile=self.meanwhile,
        )  # fmt: skip


@lru_cache(10_000)
def told(place: Place) -> str:
    """A place as a string, cached, so that all operations of a line share one string."""
    return str(place)
