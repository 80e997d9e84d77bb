"""The compute events of all ranks: operations between two communications, without a pause, are one event."""

from __future__ import annotations

from dataclasses import replace

from lockstep.events import Event

LONGEST_NAME = 60  # characters


class Ledger:
    """``events`` in the order in which they began."""

    def __init__(self, ranks: int) -> None:
        self.events: list[Event] = []
        self._open: list[int | None] = [None] * ranks  # where in events each rank's unfinished one is

    def book(self, rank: int, name: str, start: float, end: float, flops: int) -> None:
        at = self._open[rank]
        if at is not None and self.events[at].end == start:
            self.events[at] = longer(self.events[at], name, end, flops)
        else:
            self._open[rank] = len(self.events)
            self.events.append(Event(rank, "compute", start, end, name=name, flops=flops))

    def interrupt(self, rank: int) -> None:
        """The rank communicates: what it computes next is another event."""
        self._open[rank] = None


def longer(event: Event, name: str, end: float, flops: int) -> Event:
    told = name in event.name.split(", ") or len(event.name) > LONGEST_NAME
    return replace(event, name=event.name if told else f"{event.name}, {name}", end=end, flops=event.flops + flops)
