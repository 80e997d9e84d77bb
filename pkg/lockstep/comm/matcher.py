"""Message matching: each send with its receive, and the parts of each collective.

    channel      (group, source, destination, tag): messages of a channel are received in the order of sending
    collective   the n-th collective that a rank calls on a group matches the n-th of every other rank

A receive from any source matches the send that was posted first, and at equal times that of the lowest rank. This is
known only once all sends of that time have been posted. So while a rank has such a receive open, its messages are not
matched at once, but by ``settle``, when no earlier one can follow.

The virtual cluster posts to a Matcher while its ranks run; ``Matched`` does so afterwards, with journals.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from itertools import count

from lockstep.comm.backend_rules import RENDEZVOUS, Rules
from lockstep.comm.operation import Operation
from lockstep.deadlock_report import ANY_SOURCE
from lockstep.events import POINT_TO_POINT, Event

Channel = tuple[str, int, int, int]  # group name, source, destination, tag
Inbox = tuple[str, int, int]  # group name, destination, tag
Pair = tuple[Operation, Operation]  # send, receive


class Matcher:
    """Matches operations as they are posted: ``send`` and ``recv`` return the other end if it has been posted, ``join``
    whether the collective is complete."""

    def __init__(self, rules: Rules = RENDEZVOUS) -> None:
        self._tags = rules.tags
        self._sends: dict[Channel, deque[Operation]] = {}
        self._recvs: dict[Channel, deque[Operation]] = {}
        self._from_any: dict[Inbox, deque[Operation]] = {}  # open receives from any source
        self._collectives: dict[tuple[str, tuple[int, ...], int], list[Operation]] = {}  # incomplete ones

    def send(self, send: Operation) -> Operation | None:
        assert send.peer is not None
        channel = send.group_name, send.rank, send.peer, send.tag if self._tags else without_tags(send)
        if not self._from_any or not self._contested(channel):
            waiting = self._recvs.get(channel)
            if waiting:
                return waiting.popleft()
        put(self._sends, channel, send)
        return None

    def recv(self, recv: Operation) -> Operation | None:
        if recv.peer == ANY_SOURCE:
            inbox = recv.group_name, recv.rank, recv.tag
            self._from_any.setdefault(inbox, deque()).append(recv)
            return None
        assert recv.peer is not None
        channel = recv.group_name, recv.peer, recv.rank, recv.tag if self._tags else without_tags(recv)
        if not self._from_any or not self._contested(channel):
            waiting = self._sends.get(channel)
            if waiting:
                return waiting.popleft()
        put(self._recvs, channel, recv)
        return None

    def join(self, part: Operation, sequence: int, expected: int = 0) -> bool:
        """Add a rank's part of a collective. ``sequence``: the number of the rank's collective on this group;
        ``expected``: how many parts make it complete, if not one of each rank of the group."""
        key = part.group_name, part.group, sequence
        parts = self._collectives.setdefault(key, [])
        parts.append(part)
        part.together = parts
        if len(parts) < (expected or len(part.group)):
            return False
        del self._collectives[key]
        return True

    def settle(self) -> list[Pair]:
        """Match receives from any source, when no earlier operation can be posted any more."""
        found: list[Pair] = []
        for inbox in list(self._from_any):
            found += self._settle(inbox)
            if not self._from_any[inbox]:
                del self._from_any[inbox]
        return found

    def unmatched(self) -> Iterator[Operation]:
        """Unreceived messages, unmatched receives, and incomplete collectives."""
        for queues in (self._sends, self._recvs, self._from_any):
            for queue in queues.values():
                yield from queue
        for parts in self._collectives.values():
            yield from parts

    def withdraw(self, fails: Callable[[Operation], bool]) -> list[Operation]:
        """Remove the open operations for which ``fails`` is true, and return them."""
        withdrawn = [o for o in self.unmatched() if fails(o)]
        for queues in (self._sends, self._recvs, self._from_any):
            for key, queue in list(queues.items()):
                left = deque(o for o in queue if not fails(o))
                if left:
                    queues[key] = left  # type: ignore[index]
                else:
                    del queues[key]  # type: ignore[arg-type]
        self._collectives = {key: parts for key, parts in self._collectives.items() if not any(map(fails, parts))}
        return withdrawn

    @property
    def contested(self) -> bool:
        """Whether ``settle`` may find something."""
        return bool(self._from_any)

    def _contested(self, channel: Channel) -> bool:
        group_name, _, destination, tag = channel
        return (group_name, destination, tag) in self._from_any

    def _settle(self, inbox: Inbox) -> Iterator[Pair]:
        """Match the rank's receives in the order of posting."""
        group_name, destination, tag = inbox
        takers = self._from_any[inbox]
        group = takers[0].group
        channels = [(group_name, source, destination, tag) for source in group]
        while True:
            sends = [(queue[0], c) for c in channels if (queue := self._sends.get(c))]
            before = takers[0].number if takers else float("inf")
            named = [(s, c) for s, c in sends if (q := self._recvs.get(c)) and q[0].number < before]
            for send, channel in named:
                self._sends[channel].popleft()
                yield send, self._recvs[channel].popleft()
            if named:
                continue
            if not takers or not sends:
                return
            send, channel = min(sends, key=lambda found: (found[0].posted, found[0].rank))
            self._sends[channel].popleft()
            yield send, takers.popleft()


def without_tags(operation: Operation) -> int:
    """A substitute for the tag with NCCL, where individual and batched operations use different communicators."""
    return int(operation.batch > 0)


def put(queues: dict[Channel, deque[Operation]], channel: Channel, operation: Operation) -> None:
    queue = queues.get(channel)
    if queue is None:
        queue = queues[channel] = deque()
    queue.append(operation)


Journal = Sequence[Operation]  # of one rank, in the order of posting


class Matched:
    """The journals of real ranks, matched after the fact: ``pairs`` of messages, ``collectives`` (possibly incomplete),
    and ``single``, the operations without a partner."""

    def __init__(self, journals: Sequence[Journal]) -> None:
        self.pairs: list[Pair] = []
        self.collectives: list[Sequence[Operation]] = []
        self._journals = journals
        matcher = Matcher()
        for o in in_order(journals):
            if o.kind in POINT_TO_POINT:
                other = matcher.send(o) if o.kind == "send" else matcher.recv(o)
                if other is not None:
                    self.pairs.append((o, other) if o.kind == "send" else (other, o))
        self.pairs += matcher.settle()
        self._join(matcher, journals)
        self.single = list(matcher.unmatched())
        self._served = {id(o) for pair in self.pairs for o in pair}

    def _join(self, matcher: Matcher, journals: Sequence[Journal]) -> None:
        for journal in journals:
            sequence: dict[str, Iterator[int]] = defaultdict(count)
            for o in journal:
                if o.kind not in POINT_TO_POINT:
                    matcher.join(o, next(sequence[o.group_name]))
                    if o.together[0] is o:
                        self.collectives.append(o.together)

    def served(self, operation: Operation) -> bool:
        """Whether other ranks have posted all that it needs, so that it only takes time."""
        if operation.kind in POINT_TO_POINT:
            return id(operation) in self._served
        return not operation.missing

    def events(self, now: float) -> list[Event]:
        """The operations as Events; both ends of a message, and all parts of a collective, share a message number."""
        for number, together in enumerate([*self.pairs, *self.collectives]):
            for o in together:
                o.message = number
        return [o.event(now) for journal in self._journals for o in journal]


def in_order(journals: Sequence[Journal]) -> list[Operation]:
    """All operations in the order of posting. A receive from any source has been given its sender's rank when it
    completed; one that still waits comes last, and gets what is left."""
    for journal in journals:
        for number, o in enumerate(journal):
            o.number = number
    return sorted((o for journal in journals for o in journal), key=lambda o: (o.peer == ANY_SOURCE, o.posted))
