"""The trace of a run as a test asks about it: what a rank sent, and what it hid behind its computing."""

from __future__ import annotations

import pytest

from lockstep.errors import UsageError
from lockstep.events import COLLECTIVES, POINT_TO_POINT, Event, Trace
from lockstep.intervals import common, length, merged


class Recorded(Trace):
    """A Trace with the questions of tests. All bytes are payload: what the program asked for, whatever a library makes
    of it. ``rank=None``: all ranks together."""

    @classmethod
    def by(cls, trace: Trace) -> Recorded:
        return cls(trace.events, trace.ranks, trace.world, trace.cluster, trace.unequal)

    def __repr__(self) -> str:
        return f"Trace({len(self.communication)} operations of {self.ranks} ranks on {self.cluster or self.world})"

    def sent_bytes(self, rank: int | None = None) -> int:
        """Bytes sent by send and isend."""
        return self.sent(rank).nbytes

    def received_bytes(self, rank: int | None = None) -> int:
        """Bytes received by recv and irecv."""
        return self.received(rank).nbytes

    def number_of(self, *kinds: str, rank: int | None = None) -> int:
        """How many operations of these kinds, such as "all_reduce"; of all kinds if none is named."""
        return len(self._chosen(kinds, rank))

    def bytes_of(self, *kinds: str, rank: int | None = None) -> int:
        """The payload of operations of these kinds (``Event.nbytes``)."""
        return sum(e.nbytes for e in self._chosen(kinds, rank))

    def overlapped(self, *kinds: str, rank: int) -> float:
        """The part, from 0 to 1, of the time in which the rank's operations were under way that it spent computing.

        1 if it communicated nothing. Skips the test where computing is not recorded: on processes."""
        if self.world != "virtual":
            pytest.skip("how much was overlapped is known on the virtual cluster only")
        under_way = merged((e.start, e.end) for e in self._chosen(kinds, rank))
        computed = merged((e.start, e.end) for e in self.of_kind("compute") if e.rank == rank)
        whole = length(under_way)
        return common(under_way, computed) / whole if whole else 1.0

    def _chosen(self, kinds: tuple[str, ...], rank: int | None) -> list[Event]:
        unknown = [kind for kind in kinds if kind not in (*POINT_TO_POINT, *COLLECTIVES)]
        if unknown:
            known = ", ".join((*POINT_TO_POINT, *COLLECTIVES))
            raise UsageError(f"There is no operation {unknown[0]!r} in a trace.", f"There are {known}.")
        return [e for e in self.communication if (not kinds or e.kind in kinds) and rank in (None, e.rank)]
