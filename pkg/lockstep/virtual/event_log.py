"""The event log of a run: all communication, and computation merged into one event between two communications."""

from __future__ import annotations

import gc
from dataclasses import dataclass

from lockstep.comm.operation import Operation
from lockstep.events import Event

LONGEST_NAME = 60  # characters


@dataclass(slots=True)
class Stretch:
    """The computation of a rank between two communications, without a gap."""

    rank: int
    start: float
    end: float
    names: list[str]  # each operation once
    flops: int

    def event(self) -> Event:
        return Event(self.rank, "compute", self.start, self.end, name=", ".join(self.names), flops=self.flops)

    def extend(self, name: str, end: float, flops: int) -> None:
        self.end, self.flops = end, self.flops + flops
        if name not in self.names and len(", ".join(self.names)) <= LONGEST_NAME:
            self.names.extend(name.split(", "))  # a segment of a tape has several


class EventLog:
    """Logs the computation and communication of ``ranks`` ranks."""

    def __init__(self, ranks: int) -> None:
        self._stretches: list[Stretch] = []
        self.operations: list[Operation] = []
        self._open: list[Stretch | None] = [None] * ranks

    def book(self, rank: int, name: str, start: float, end: float, flops: int) -> None:
        open_ = self._open[rank]
        if open_ is not None and open_.end == start:
            open_.extend(name, end, flops)
        else:
            self._open[rank] = stretch = Stretch(rank, start, end, name.split(", "), flops)
            self._stretches.append(stretch)

    def post(self, operation: Operation) -> None:
        """Log a communication: the rank's next computation is a new event."""
        self._open[operation.rank] = None
        self.operations.append(operation)

    def events(self, now: float) -> list[Event]:
        """All events, at the virtual time ``now``, at which unfinished operations are taken to end; one that has not
        begun has only waited."""
        gc.disable()  # it would traverse a million events again and again while they are made
        try:
            computed = [stretch.event() for stretch in self._stretches]
            for operation in self.operations:
                if operation.start is None:
                    operation.start = now
            return computed + [operation.event(now) for operation in self.operations]
        finally:
            gc.enable()
