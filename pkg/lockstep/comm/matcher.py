"""Which operations of different ranks belong together: each send with its receive, and the parts of each collective.

    channel      (group, source, destination, tag): its messages arrive in the order in which they were sent
    collective   the n-th that a rank calls on a group meets the n-th of every other

A receive from any source takes the send that was posted first; among those of one time, that of the lowest rank. Which
one that is can't be said before all sends of that time are there. So where a rank has such a receive open, nothing that
concerns the rank is matched at once: ``settle`` matches it, when nothing more can come.

The virtual cluster posts to a Matcher while its ranks run; ``Matched`` does the same afterwards, with journals.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from itertools import count

from lockstep.comm.backend_rules import RENDEZVOUS, Rules
from lockstep.comm.operation import Operation
from lockstep.deadlock_report import ANY_SOURCE
from lockstep.events import POINT_TO_POINT, Event

Channel = tuple[str, int, int, int]  # group name, source, destination, tag
Inbox = tuple[str, int, int]  # group name, destination, tag
Pair = tuple[Operation, Operation]  # send, receive


class Matcher:
    """``send`` and ``recv`` return the other end if it is there, ``join`` whether all parts are."""

    def __init__(self, rules: Rules = RENDEZVOUS) -> None:
        self._tags = rules.tags
        self._sends: dict[Channel, deque[Operation]] = {}
        self._recvs: dict[Channel, deque[Operation]] = {}
        self._from_any: dict[Inbox, deque[Operation]] = {}  # open receives from any source
        self._collectives: dict[tuple[str, tuple[int, ...], int], list[Operation]] = {}  # that not all have joined

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

    def join(self, part: Operation, sequence: int) -> bool:
        """``sequence``: how many collectives the rank has called on this group."""
        key = part.group_name, part.group, sequence
        parts = self._collectives.setdefault(key, [])
        parts.append(part)
        part.together = parts
        if len(parts) < len(part.group):
            return False
        del self._collectives[key]
        return True

    def settle(self) -> list[Pair]:
        """Nothing more comes before what is there: let receives from any source take their messages."""
        found: list[Pair] = []
        for inbox in list(self._from_any):
            found += self._settle(inbox)
            if not self._from_any[inbox]:
                del self._from_any[inbox]
        return found

    def unmatched(self) -> Iterator[Operation]:
        """Messages that nobody has received, receives that nobody has served, collectives that not all have joined."""
        for queues in (self._sends, self._recvs, self._from_any):
            for queue in queues.values():
                yield from queue
        for parts in self._collectives.values():
            yield from parts

    @property
    def contested(self) -> bool:
        """Whether ``settle`` may find something."""
        return bool(self._from_any)

    def _contested(self, channel: Channel) -> bool:
        group_name, _, destination, tag = channel
        return (group_name, destination, tag) in self._from_any

    def _settle(self, inbox: Inbox) -> Iterator[Pair]:
        """In the order in which the rank has posted its receives."""
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
    """Instead of a tag: on NCCL what is posted singly and what is posted in a batch go different ways."""
    return int(operation.batch > 0)


def put(queues: dict[Channel, deque[Operation]], channel: Channel, operation: Operation) -> None:
    queue = queues.get(channel)
    if queue is None:
        queue = queues[channel] = deque()
    queue.append(operation)


Journal = Sequence[Operation]  # of one rank, in the order of posting


class Matched:
    """What the journals of real ranks tell, matched afterwards: ``pairs``, ``collectives`` (the parts that are there),
    and what is left alone (``single``)."""

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
        """Whether all that it needs of other ranks has been called: it only takes time."""
        if operation.kind in POINT_TO_POINT:
            return id(operation) in self._served
        return not operation.missing

    def events(self, now: float) -> list[Event]:
        """The operations as Events; the two ends of a message, and the parts of a collective, share a number."""
        for number, together in enumerate([*self.pairs, *self.collectives]):
            for o in together:
                o.message = number
        return [o.event(now) for journal in self._journals for o in journal]


def in_order(journals: Sequence[Journal]) -> list[Operation]:
    """As if they were posted now. A receive from any source bears the name of the rank that it got its message from;
    one that still waits comes last, and takes what nobody else does."""
    for journal in journals:
        for number, o in enumerate(journal):
            o.number = number
    return sorted((o for journal in journals for o in journal), key=lambda o: (o.peer == ANY_SOURCE, o.posted))
