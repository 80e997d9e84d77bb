"""When a thing that does one piece of work at a time is busy: a port, or a core.

Work is booked for the earliest time at which it fits, in a gap that earlier bookings have left or at the end; what is
booked never moves. (List scheduling: Graham, "Bounds on multiprocessing timing anomalies", 1969.)
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence

MANY = 64  # spans of a calendar; those that are over are forgotten then

Span = tuple[float, float]  # from, until: seconds


class Calendar:
    """``free``: from then on nothing is booked."""

    __slots__ = ("free", "spans")

    def __init__(self) -> None:
        self.spans: list[Span] = []  # in order; those that touched are one
        self.free = 0.0

    def earliest(self, ready: float, seconds: float) -> float:
        """The first moment from ``ready`` on from which it is idle for so long."""
        if ready >= self.free:
            return ready
        for start, end in self.spans[max(0, bisect_right(self.spans, (ready, ready)) - 1) :]:
            if ready + seconds <= start:
                break
            ready = max(ready, end)
        return ready

    def book(self, start: float, end: float, now: float = 0.0) -> None:
        """It is busy from ``start`` until ``end``. Nothing will be booked for before ``now`` any more."""
        spans = self.spans
        if now >= self.free:  # all that was booked is over
            self.spans, self.free = [(start, end)], end
            return
        if start > self.free:
            spans.append((start, end))
        elif start == self.free:
            spans[-1] = spans[-1][0], end
        else:
            self._fill(start, end)
        if end > self.free:
            self.free = end
        if len(spans) > MANY:
            del spans[: max(0, bisect_right(spans, (now, now)) - 1)]

    def _fill(self, start: float, end: float) -> None:
        """A gap, or a part of it."""
        spans = self.spans
        insort(spans, (start, end))
        i = bisect_right(spans, (start, end)) - 1
        if i + 1 < len(spans) and spans[i + 1][0] <= end:
            spans[i : i + 2] = [(start, max(end, spans[i + 1][1]))]
        if i and start <= spans[i - 1][1]:
            spans[i - 1 : i + 1] = [(spans[i - 1][0], max(spans[i - 1][1], spans[i][1]))]


def together(calendars: Sequence[Calendar], ready: float, seconds: float) -> float:
    """The first moment from ``ready`` on from which all of them are idle for so long."""
    while True:
        start = ready
        for calendar in calendars:
            start = calendar.earliest(start, seconds)
        if start == ready:
            return start
        ready = start
