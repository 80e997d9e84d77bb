"""Waits that give up, as gloo's do: ``work.wait(timeout)``, ``new_group(timeout=)``, ``monitored_barrier``.

Time is virtual, so that a wait gives up once every rank has come to its deadline, or stands still: at once, for whoever
looks at the host's clock. What gloo does then, as measured with torch 2.13:

    who gives up                         raises                                               and then
    work.wait(t) of a message            [..] Timed out waiting 2000ms for recv operation ... the pair is closed
    work.wait(t) of a collective         Operation timed out!                                 it goes on
    a group with a timeout, a message    as work.wait(t)                                      the pair is closed
    a group with a timeout, a collective [..] Timed out waiting 2000ms for recv operation ... the rank's pairs are
    monitored_barrier, on rank 0         Rank 1 failed to pass monitoredBarrier in 2000 ms    the rank's pairs are

A *pair* is a connection of two ranks in one group. Whatever is open on a closed one fails, and so does what is posted
later, on both ranks. (Here that holds for any collective of the group, though gloo's may not need the pair.)

The default group has no timeout, and long ones do not count (``limited_waits.limit_of``): what waits for ever is
reported as a deadlock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from lockstep.comm.operation import Operation
from lockstep.events import POINT_TO_POINT
from lockstep.record.limited_waits import NEVER, limit_of

CLOSED = "Application timeout caused pair closure: rank {me} has given up waiting for rank {peer} before"
CLOSED_BY_PEER = "Connection closed by peer: rank {peer} has given up waiting for rank {me} before"
REACHED = (
    "Rank {seat} successfully reached monitoredBarrier, but received errors while waiting for send/recv from rank 0. "
    "Please check rank 0 logs for faulty rank."
)


def milliseconds(seconds: float) -> int:
    return round(1000 * seconds)


@dataclass
class Patience:
    """How long one wait lasts. ``until``: virtual time; ``closes``: the ranks whose pairs with this one are closed."""

    operation: Operation
    until: float = NEVER
    seconds: float = NEVER
    closes: tuple[int, ...] = ()
    rang: bool = False

    def told(self) -> str:
        """What the rank's error says when time is up."""
        kind = self.operation.kind
        if not self.closes:
            return "Operation timed out!"
        kind = kind if kind in POINT_TO_POINT else "recv"
        waited = milliseconds(self.seconds)
        return f"[Rank {self.operation.rank}] Timed out waiting {waited}ms for {kind} operation to complete"

    def told_to(self, rank: int) -> str:
        """What the error of another rank says, whose operation fails for that."""
        return CLOSED_BY_PEER.format(me=rank, peer=self.operation.rank)


@dataclass
class AtBarrier(Patience):
    """Rank 0's patience in a ``monitored_barrier``. ``all_ranks``: name all that are missing, not only the first."""

    all_ranks: bool = False

    def told(self) -> str:
        group, limit = self.operation.group, milliseconds(self.seconds)
        missing = [group.index(rank) for rank in self.operation.missing]
        if self.all_ranks:
            return f"[Rank 0]: Ranks {', '.join(map(str, missing))} failed to pass monitoredBarrier in {limit} ms"
        if limit <= 0:
            passed = ", ".join(str(seat) for seat in range(1, missing[0])) if missing[0] > 1 else ""
            found = f"Successfully processed ranks: {passed}" if passed else "No ranks successfully processed"
            return f"Rank 0 timed out in monitoredBarrier after {limit} ms.\n{found} in monitoredBarrier."
        return f"[Rank 0]: Rank {missing[0]} failed to pass monitoredBarrier in {limit} ms"

    def told_to(self, rank: int) -> str:
        return REACHED.format(seat=self.operation.group.index(rank))


def patience(operation: Operation, clock: Sequence[float], timeout: timedelta | None) -> Patience | None:
    """The patience of a wait that begins now; None if it is endless. ``clock``: of each rank; ``timeout``: of this
    wait; none, or one of zero, is that of the group."""
    now, own = clock[operation.rank], limit_of(timeout)
    if own == operation.limit == NEVER:
        return None
    others = tuple(r for r in operation.group if r != operation.rank)
    if operation.kind in POINT_TO_POINT:
        seconds = operation.limit if own == NEVER else own
        return Patience(operation, now + seconds, seconds, (operation.peer,) if operation.peer in others else others)
    if now + own < operation.posted + operation.limit:
        return Patience(operation, now + own, own)
    return Patience(operation, operation.posted + operation.limit, operation.limit, others)


class ClosedPairs:
    """The connections of groups that are closed: for each group, who has given up waiting for whom."""

    def __init__(self) -> None:
        self._pairs: dict[str, set[tuple[int, int]]] = {}

    def close(self, group_name: str, me: int, peers: Sequence[int]) -> None:
        self._pairs.setdefault(group_name, set()).update((me, peer) for peer in peers)

    def needed(self, operation: Operation) -> str:
        """Why the operation cannot be carried out, or ""."""
        closed = self._pairs.get(operation.group_name, ())
        mine_first = sorted(closed, key=lambda pair: (operation.rank not in pair, pair))
        return next(filter(None, (self._why(operation, *pair) for pair in mine_first)), "")

    def _why(self, operation: Operation, gave_up: int, peer: int) -> str:
        me = operation.rank
        if operation.kind in POINT_TO_POINT and {me, operation.peer} != {gave_up, peer}:
            return ""
        if me == gave_up:
            return CLOSED.format(me=me, peer=peer)
        return CLOSED_BY_PEER.format(me=peer, peer=gave_up)
