"""What a rank has asked for and may wait for: one end of a message, or its part in a collective."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch

from lockstep.events import POINT_TO_POINT, Event
from lockstep.explain import ANY_SOURCE, spelled
from lockstep.places import NOWHERE, Place


@dataclass(eq=False, slots=True)
class Operation:
    """Ranks here are global. ``done`` is the virtual time of completion, None while it is not settled."""

    rank: int
    kind: str
    posted: float
    group: tuple[int, ...]
    group_name: str
    nbytes: int = 0
    peer: int | None = None
    tag: int = 0
    tensors: Any = None  # a send's or recv's tensor; for a collective what movement.py needs
    detail: str = ""  # for a collective: the reduction, where it matters
    signature: tuple[Any, ...] = ()  # what must agree between the ranks of a collective
    place: Place = NOWHERE
    started: float = 0.0
    done: float | None = None
    message: int | None = None
    waited: float = 0.0
    waiting: bool = False  # the rank stands still until this is settled
    awaited: bool = False  # the rank has waited for it, or asked until it was done
    polls: int = 0
    together: Sequence[Operation] = ()  # the parts of the collective that are there

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
        assert self.peer is not None
        return (self.peer,)

    def __str__(self) -> str:
        return spelled(self.kind, self.peer, self.tag, self.group)

    def event(self, end: float) -> Event:
        peer = None if self.peer == ANY_SOURCE else self.peer
        return Event(
            self.rank, self.kind, self.posted, end if self.done is None else self.done, self.nbytes, peer, self.group,
            self.tag, where=told(self.place), message=self.message, wait=self.waited, awaited=self.awaited,
            backend="virtual",
        )  # fmt: skip


@lru_cache(10_000)
def told(place: Place) -> str:
    """One string for all operations of a line: a trace with a million of them is that much smaller."""
    return str(place)


def nbytes(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()
