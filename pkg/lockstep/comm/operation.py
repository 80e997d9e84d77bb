"""One communication of one rank: one end of a message, or its part in a collective.

Three times belong to it, in seconds since the run began:

    posted      the rank asked for it
    start       it began: both ends of a message, or all parts of a collective, were there, and their ports were free.
                None as long as it has not begun, and on real processes, where nobody can see it
    end         the rank could rely on its result. None as long as it can't
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
    number: int = 0  # the rank's operations in the order of posting
    fits: tuple[tuple[int, str], ...] = ()  # elements and dtype that must agree between the ranks
    reduction: str = ""  # "SUM", "MAX" ...; "" when there is none, or it is not known
    sends: tuple[int, ...] = ()  # of an all_to_all: elements for each rank of the group,
    takes: tuple[int, ...] = ()  # and from each
    backend: str = "virtual"  # what carries it: "gloo", "nccl"
    batch: int = 0  # the same for all that batch_isend_irecv posted at once; 0 for what was posted by itself

    start: float | None = None
    end: float | None = None
    wait: float = 0.0  # seconds in which the rank stood still for it
    waiting: bool = False  # the rank stands in a wait for it,
    stands: Place = NOWHERE  # on this line
    awaited: bool = False  # the rank has waited for it, or asked until it was done
    changed: bool = False  # of a send: its tensor was another one when the rank had waited for it
    meanwhile: int | None = None  # FLOPs that the rank asked for between posting it and waiting for it, if known
    polled: Place = NOWHERE  # where is_completed() was first asked for it
    in_vain: bool = False  # it was asked for again and again, and nothing else was done since

    message: int | None = None  # joins the two ends of a message, and the parts of a collective
    together: Sequence[Operation] = ()  # of a collective, the parts that are there; of a message held up, its ends
    queue: Queue = ""  # in which the backend carries it out, if it does so in order
    behind: Callable[[], Operation] | None = None  # tells what stands first in its queue, while it does not itself
    tensors: Any = None  # of the virtual cluster: what movement.py needs
    stretch: float = 1.0  # what jitter multiplies its time by; a collective takes the longest of its parts
    turn: int = 0  # of a send: (destination - source) mod K, in ranks of the group

    @property
    def missing(self) -> tuple[int, ...]:
        """The ranks that have not joined the collective yet."""
        here = {part.rank for part in self.together}
        return tuple(r for r in self.group if r not in here)

    @property
    def waits_for(self) -> tuple[int, ...]:
        """The ranks whose action would settle this operation."""
        if self.kind not in POINT_TO_POINT:
            return self.missing
        if self.peer == ANY_SOURCE:
            return tuple(r for r in self.group if r != self.rank)
        return () if self.peer is None else (self.peer,)

    def __str__(self) -> str:
        return spelled(self.kind, self.peer, self.tag, self.group)

    def event(self, now: float) -> Event:
        """``now``: when what has no end yet is taken to end."""
        start = self.posted if self.start is None else self.start
        return Event(
            self.rank, self.kind, start, now if self.end is None else self.end, self.nbytes,
            None if self.peer == ANY_SOURCE else self.peer, self.group, self.tag, where=told(self.place),
            message=self.message, wait=self.wait, awaited=self.awaited, changed=self.changed,
            posting=None if start == self.posted else self.posted, backend=self.backend, meanwhile=self.meanwhile,
        )  # fmt: skip


@lru_cache(10_000)
def told(place: Place) -> str:
    """One string for all operations of a line: a trace with a million of them is that much smaller."""
    return str(place)
