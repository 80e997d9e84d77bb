"""One communication of one rank, and the journal that tells of them while they happen."""

from __future__ import annotations

import io
import pickle
from dataclasses import dataclass, fields
from operator import attrgetter

from lockstep import places
from lockstep.events import Event
from lockstep.explain import ANY_SOURCE, spelled
from lockstep.places import Place


@dataclass(slots=True)
class Operation:
    """One communication of one rank; ``peer`` and ``group`` are global ranks."""

    rank: int
    kind: str
    start: float
    nbytes: int
    peer: int | None
    group: tuple[int, ...]
    group_name: str
    tag: int = 0
    place: Place = places.NOWHERE  # the line that posted it
    fits: tuple[tuple[int, str], ...] = ()  # elements and dtype that must agree between the ranks
    end: float | None = None
    wait: float = 0.0
    waiting: bool = False  # the rank stands in a wait for it,
    stands: Place = places.NOWHERE  # on this line
    awaited: bool = False
    polled: Place = places.NOWHERE  # where is_completed() was first asked for it
    in_vain: bool = False  # it was asked for again and again, and nothing else was done since
    reduction: str = ""  # "SUM", "MAX" ...; "" when there is none, or it is not known
    sends: tuple[int, ...] = ()  # of an all_to_all: elements for each rank of the group,
    takes: tuple[int, ...] = ()  # and from each
    backend: str = ""  # what carries it: "gloo", "nccl"

    def event(self, until: float, message: int | None = None) -> Event:
        peer = None if self.peer == ANY_SOURCE else self.peer
        end = until if self.end is None else self.end
        return Event(
            self.rank, self.kind, self.start, end, self.nbytes, peer, self.group, self.tag,
            where=str(self.place), message=message, wait=self.wait, awaited=self.awaited,
            backend=self.backend,
        )  # fmt: skip

    def __str__(self) -> str:
        return spelled(self.kind, self.peer, self.tag, self.group)


told = attrgetter(*(f.name for f in fields(Operation)))  # as a tuple: what the journal has first of an operation


def replay(journal: bytes) -> list[Operation]:
    """The operations that a journal tells of, as far as it goes."""
    operations: list[Operation] = []
    stream = io.BytesIO(journal)
    while True:
        try:
            index, told = pickle.load(stream)
        except (EOFError, pickle.UnpicklingError, ValueError):  # the last entry may be cut off
            return operations
        if isinstance(told, dict):
            for name, value in told.items():
                setattr(operations[index], name, value)
        else:
            operations.append(Operation(*told))
