"""Which operations of different ranks belong together: each message with its receive, the parts of each collective.

Messages of one channel (source, destination, tag, group) arrive in the order in which they were sent; the n-th
collective that a rank calls on a group meets the n-th of every other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, product

from lockstep import explain
from lockstep.errors import Mismatch, Standing, Unmatched
from lockstep.events import POINT_TO_POINT, Event
from lockstep.explain import ANY_SOURCE
from lockstep.launch.homonyms import homonyms
from lockstep.record.operation import Operation

Logs = Sequence[Sequence[Operation]]  # by rank, each in the order of posting


@dataclass
class Meeting:
    """A collective: the parts that its ranks have called so far."""

    group: tuple[int, ...]
    parts: list[Operation] = field(default_factory=list)

    @property
    def missing(self) -> tuple[int, ...]:
        here = {p.rank for p in self.parts}
        return tuple(r for r in self.group if r not in here)


class Matching:
    """``pairs`` of a send and its recv, ``meetings``, and the ends of messages that are left alone (``single``)."""

    def __init__(self, logs: Logs) -> None:
        self.pairs: list[tuple[Operation, Operation]] = []
        self.single: list[Operation] = []
        self.meetings: list[Meeting] = []
        self._of: dict[int, Meeting] = {}
        self._logs = logs
        self._match_messages([o for log in logs for o in log if o.kind in POINT_TO_POINT])
        self._match_collectives(logs)

    def _match_messages(self, ends: Sequence[Operation]) -> None:
        sends: dict[tuple[str, int, int | None, int], list[Operation]] = defaultdict(list)
        for send in ends:
            if send.kind == "send":
                sends[send.group_name, send.rank, send.peer, send.tag].append(send)
        recvs = [o for o in ends if o.kind == "recv"]
        for recv in sorted(recvs, key=lambda o: o.peer == ANY_SOURCE):  # those that name their source come first
            sources = recv.group if recv.peer == ANY_SOURCE else (recv.peer,)
            queues = [q for s in sources if (q := sends.get((recv.group_name, s or 0, recv.rank, recv.tag)))]
            if queues:
                first = min(queues, key=lambda q: q[0].start)
                self.pairs.append((first.pop(0), recv))
            else:
                self.single.append(recv)
        self.single = [*(s for queue in sends.values() for s in queue), *self.single]

    def _match_collectives(self, logs: Logs) -> None:
        meetings: dict[tuple[str, tuple[int, ...], int], Meeting] = {}
        for log in logs:
            position: dict[str, Iterator[int]] = defaultdict(count)
            for o in log:
                if o.kind not in POINT_TO_POINT:
                    key = o.group_name, o.group, next(position[o.group_name])
                    meeting = self._of[id(o)] = meetings.setdefault(key, Meeting(o.group))
                    meeting.parts.append(o)
        self.meetings = list(meetings.values())

    def served(self, operation: Operation) -> bool:
        """Whether all that it needs of other ranks has been called: it only takes time."""
        if operation.kind in POINT_TO_POINT:
            return any(operation is end for pair in self.pairs for end in pair)
        return not self._of[id(operation)].missing

    def waits_for(self, operation: Operation) -> tuple[int, ...]:
        """The ranks whose action would settle this operation."""
        if operation.kind not in POINT_TO_POINT:
            return self._of[id(operation)].missing
        if operation.peer == ANY_SOURCE:
            return tuple(r for r in operation.group if r != operation.rank)
        return (operation.peer or 0,)

    def events(self, logs: Logs, until: float) -> list[Event]:
        """The operations as Events; the two ends of a message, and the parts of a collective, share a number."""
        number = count()
        message: dict[int, int] = {}
        for together in [*self.pairs, *(m.parts for m in self.meetings)]:
            shared = next(number)
            message.update({id(o): shared for o in together})
        return [o.event(until, message.get(id(o))) for log in logs for o in log]

    def mismatch(self) -> Mismatch | None:
        """The first place, if any, where ranks met that do not fit together."""
        if error := homonyms(self._logs):
            return error
        for meeting in sorted(self.meetings, key=lambda m: m.parts[0].start):
            parts = sorted(meeting.parts, key=lambda p: p.rank)
            other = next((p for p in parts if not agree(p, parts[0])), None)
            if other:
                return different(parts, other)
            if parts[0].kind == "all_to_all" and (error := ill_cut(parts)):
                return error
        odd = next(((s, r) for s, r in self.pairs if s.fits != r.fits), None)
        return misfit(*odd) if odd else None

    def unmatched(self) -> Unmatched | None:
        """What is left over after a run that has ended."""
        left = [*self.single, *(p for m in self.meetings if m.missing for p in m.parts)]
        return lonely(left) if left else None


def agree(a: Operation, b: Operation) -> bool:
    """Whether two parts can be of one collective. A reduction that is not known fits any."""
    reductions = {a.reduction, b.reduction} - {""}
    return (a.kind, a.peer, a.fits) == (b.kind, b.peer, b.fits) and len(reductions) < 2


def standing(o: Operation, waits_for: tuple[int, ...] = (), signed: bool = False) -> Standing:
    told = f"{o} {described(o)}".rstrip() if signed else str(o)
    place = o.stands if o.waiting else o.place
    return Standing(o.rank, "waiting", told, str(place), place.source, waits_for)


def described(o: Operation) -> str:
    sizes = [] if o.kind == "all_to_all" else [f"{n} elements of {dtype}" for n, dtype in o.fits]
    told = [o.reduction] * bool(o.reduction) + sizes
    return f"({', '.join(told)})" if told else ""


def different(parts: Sequence[Operation], other: Operation) -> Mismatch:
    kinds = {parts[0].rank: parts[0].kind, other.rank: other.kind}
    return explain.different(kinds, [standing(p, signed=True) for p in parts])


def ill_cut(parts: Sequence[Operation]) -> Mismatch | None:
    """An all_to_all in which a rank does not expect what another one sends it."""
    seat = {p.rank: p.group.index(p.rank) for p in parts}
    for target, source in product(parts, parts):
        piece, room = source.sends[seat[target.rank]], target.takes[seat[source.rank]]
        if piece != room:
            sent, expected = (f"{n} elements of {source.fits[0][1]}" for n in (piece, room))
            standings = list(map(standing, parts))
            return explain.ill_cut(target.kind, f"rank {source.rank} has", sent, target.rank, expected, standings)
    return None


def misfit(send: Operation, recv: Operation) -> Mismatch:
    sent, room = (f"{n} elements of {dtype}" for o in (send, recv) for n, dtype in o.fits[:1])
    return explain.misfit(send.rank, sent, recv.rank, room, [standing(send), standing(recv)])


def lonely(left: Sequence[Operation]) -> Unmatched:
    return explain.left_over(left[0].kind, [standing(o) for o in left])
