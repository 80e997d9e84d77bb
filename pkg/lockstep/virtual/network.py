"""The network model: when messages and collectives take place, given links, ports and shared cores.

A message takes alpha + n·beta of its link (Hockney 1994) and occupies the sender's output port and the receiver's input
port for that time. So a rank sends one message at a time and receives one at a time, possibly both at once: the
one-port, full-duplex model of Thakur, Rabenseifner and Gropp (2005). Each rank has a port pair for links inside its
node, and one for links between nodes.

A message is *ready* when both of its ends are posted; a collective, when all of its parts are. Operations that become
ready at the same virtual time are booked together, once no rank can act at that time any more:

    (1) in the order of (destination - source) mod K of the group, then of the source, then of posting: in each step of
        an all-to-all every rank sends to a different one. A collective comes before the messages of its moment.
    (2) each gets the earliest interval of its length, not before it is ready and its pair's previous message has ended,
        in which all its resources are idle: ports, and cores where ranks share them.
    (3) A booking is never moved.

So the order in which a program posts messages at one time does not matter, and no port is idle while a ready message
could use it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from lockstep.comm import mismatch
from lockstep.comm.backend_rules import Rules
from lockstep.comm.matcher import Matcher
from lockstep.comm.operation import Operation
from lockstep.cost.collectives import collective_time
from lockstep.cost.contention import Calendar, Cores, Demand, together
from lockstep.deadlock_report import dtype_name
from lockstep.errors import Mismatch
from lockstep.machines import Cluster, Link
from lockstep.record.limited_waits import NEVER
from lockstep.virtual import data_movement
from lockstep.virtual.nccl_queues import Ends, Queues
from lockstep.virtual.timeouts import ClosedPairs, Patience

Mover = Callable[[list[Operation]], None]


@dataclass(eq=False, slots=True)
class Route:
    """The resources of messages between two ranks. ``link``: None to itself; ``last``: when their last message ends."""

    link: Link | None
    out: Calendar
    into: Calendar
    cores: Demand
    last: float = 0.0


@dataclass(eq=False, slots=True)
class Party:
    """The resources of the collectives of a group. ``here``: its ranks that take part (all of them, unless others stand
    for some)."""

    here: Sequence[int]
    seats: Mapping[int, int]
    ports: Sequence[Calendar]
    cores: Demand


class Network:
    """Matches operations, moves their data, sets their times and wakes ranks that wait for them.

    ``present``: the ranks that take part, if these stand for all others (``players``). A collective is complete when
    those of its group have joined.

    ``moment``: the virtual time of the next booking. The scheduler calls ``settle`` once no rank can act at that time
    any more."""

    def __init__(
        self,
        ranks: int,
        cluster: Cluster,
        rules: Rules,
        wake: Callable[[int, float], None],
        present: frozenset[int] | None = None,
    ) -> None:
        self.cluster, self.rules, self._present = cluster, rules, present
        self._of_groups: dict[tuple[int, ...], Party] = {}
        self._seconds: dict[tuple[str, int, tuple[int, ...]], float] = {}  # of collectives
        self.cores = Cores(cluster)
        self.moment = NEVER
        self._wake = wake
        self._matcher = Matcher(rules)
        self._closed: ClosedPairs | None = None  # until somebody gives up
        self._queues = Queues(self._resume) if rules.in_order else None
        self._ready: list[Ends] = []  # at ``moment``
        self._later: dict[float, list[Ends]] = {}  # by moment
        ports = [[Calendar() for _ in range(ranks)] for _ in range(4)]
        self._inside, self._between = (ports[0], ports[1]), (ports[2], ports[3])  # output and input ports, by rank
        self._routes: dict[tuple[int, int], Route] = {}  # by source and destination
        self._ids = count()

    # ---- what ranks post

    def send(self, send: Operation) -> None:
        if self._closed and self._is_cut_off(self._closed, send):
            return
        if self._queues:
            self._queues.post(send)
        recv = self._matcher.send(send)
        if send.nbytes <= self.rules.eager:  # also with a posted receive: the order at one time is a race
            if recv is None and not send.copied:
                send.tensors, send.copied = data_movement.buffered(send.tensors), True
            self._let_go(send)
        if recv is not None:
            self._meet(send, recv)
        elif self._matcher.contested:
            self._due(send.posted)

    def recv(self, recv: Operation) -> None:
        if self._closed and self._is_cut_off(self._closed, recv):
            return
        if self._queues:
            self._queues.post(recv)
        send = self._matcher.recv(recv)
        if send is not None:
            self._meet(send, recv)
        elif self._matcher.contested:
            self._due(recv.posted)

    def join(self, part: Operation, sequence: int, move: Mover) -> None:
        """A rank joins a collective; the last one to join executes it. Raises Mismatch if the parts do not fit."""
        if self._closed and self._is_cut_off(self._closed, part):
            return
        if self._queues:
            self._queues.post(part)
        whole = self._matcher.join(part, sequence, len(self._party(part.group).here))
        doubtful = not mismatch.agree(part, part.together[0]) or (whole and part.kind == "all_to_all")
        if doubtful and (error := mismatch.of_collective(part.together)):
            raise error
        if whole:
            seats = self._party(part.group).seats
            parts = sorted(part.together, key=lambda p: seats[p.rank])
            try:
                move(parts)
                for p in parts:
                    p.tensors = None
            except Mismatch as error:
                error.states = tuple(map(mismatch.rank_state, parts))
                raise
            self._is_ready(tuple(parts), part.posted)

    def unmatched(self) -> Iterator[Operation]:
        return (o for o in self._matcher.unmatched() if not o.given_up)

    # ---- waits that give up

    def give_up(self, patience: Patience) -> None:
        """Time is up for a rank that waits. What it waits for fails, and all else that is open on the pairs it closes.
        If it closes none, a collective goes on without the one who waited."""
        operation, now = patience.operation, patience.until
        if operation.end is not None:
            return
        patience.rang = operation.given_up = True
        if not patience.closes:
            if operation.waiting:
                operation.waiting = False
                self._wake(operation.rank, now)
            return
        parts, told = operation.together, patience.told()
        self._closed = closed = self._closed or ClosedPairs()
        closed.close(operation.group_name, operation.rank, patience.closes)
        for o in self._matcher.withdraw(lambda o: bool(closed.needed(o))):
            why = patience.told_to(o.rank) if o in parts else closed.needed(o)
            self._fail(o, told if o is operation else why, now)

    def _is_cut_off(self, closed: ClosedPairs, operation: Operation) -> bool:
        """Whether the operation fails since it needs a pair that is closed."""
        why = closed.needed(operation)
        if why:
            self._fail(operation, why, operation.posted)
        return bool(why)

    def _fail(self, operation: Operation, why: str, now: float) -> None:
        operation.error, operation.tensors = why, None
        self._over(operation, now, now)

    # ---- booking

    def settle(self) -> None:
        """Book what has become ready at ``moment``, when no rank can act at that time any more."""
        if self._matcher.contested:
            for send, recv in self._matcher.settle():
                self._meet(send, recv)
        now, due = self.moment, self._ready
        self.moment = min(self._later, default=NEVER)
        self._ready = self._later.pop(self.moment, [])
        for operations in sorted(due, key=turn) if len(due) > 1 else due:
            if operations[0].kind == "send":
                self._book_message(operations[0], operations[1], now)
            else:
                self._book_collective(operations, now)

    def _meet(self, send: Operation, recv: Operation) -> None:
        check_fits(send, recv)
        if recv.withheld and not recv.waiting:
            copy = send.tensors if send.copied else data_movement.buffered(send.tensors)
            recv.landing = [(copy, recv.tensors)]
        else:
            data_movement.message(send.tensors, recv.tensors)
        send.tensors = recv.tensors = None
        recv.peer = send.rank
        self._is_ready((send, recv), send.posted if send.posted >= recv.posted else recv.posted)

    def _is_ready(self, operations: Ends, moment: float) -> None:
        if self._queues:
            held_up = self._queues.ready(operations)
            if held_up is None:
                return  # an earlier entry of its queue must complete first: Queues calls _resume
            moment = max(moment, held_up)
        self._due(moment).append(operations)

    def _resume(self, operations: Ends, moment: float) -> None:
        if len(operations) == 1:  # a buffered send, which completes as soon as it may begin
            self._over(operations[0], moment, moment)
        else:
            self._due(moment).append(operations)

    def _due(self, moment: float) -> list[Ends]:
        """The list of operations to be booked at ``moment``, which is nearly always the next and only one."""
        if moment == self.moment:
            return self._ready
        if moment > self.moment:
            return self._later.setdefault(moment, [])
        if self.moment < NEVER:
            self._later[self.moment] = self._ready
        self.moment, self._ready = moment, []
        return self._ready

    def _book_message(self, send: Operation, recv: Operation, now: float) -> None:
        pair = send.rank, recv.rank
        route = self._routes.get(pair)
        if route is None:
            route = self._routes[pair] = self._route(*pair)
        out, into = route.out, route.into
        seconds = route.link.time(send.nbytes) * send.stretch if route.link else 0.0
        if now >= out.free and now >= into.free and not route.cores:
            start = now
        else:
            start = self._idle((out, into), route.cores, max(now, route.last), seconds)
        end = start + seconds
        if seconds:
            out.book(start, end, now)
            into.book(start, end, now)
            route.last = end
        send.message = recv.message = next(self._ids)
        self._over(recv, start, end)
        if send.end is None:  # it was not buffered
            self._over(send, start, end)

    def _route(self, source: int, destination: int) -> Route:
        out, into = self._inside if self.cluster.is_inside(source, destination) else self._between
        link = self.cluster.link(source, destination) if source != destination else None
        return Route(link, out[source], into[destination], self.cores.message(source, destination))

    def _book_collective(self, parts: Sequence[Operation], now: float) -> None:
        party = self._party(parts[0].group)
        seconds = self._time(parts[0].kind, max(p.nbytes for p in parts), parts[0].group)
        seconds *= max(p.stretch for p in parts)
        ports = party.ports
        start = self._idle(ports, party.cores, now, seconds)
        if seconds:
            for port in ports:
                port.book(start, start + seconds, now)
        message = next(self._ids)
        for part in parts:
            part.message = message
            self._over(part, start, start + seconds)

    def _time(self, kind: str, nbytes: int, group: tuple[int, ...]) -> float:
        """Seconds of a collective, computed once for each that differs."""
        key = kind, nbytes, group
        seconds = self._seconds.get(key)
        if seconds is None:
            seconds = self._seconds[key] = collective_time(kind, nbytes, group, self.cluster)
        return seconds

    def _party(self, group: tuple[int, ...]) -> Party:
        party = self._of_groups.get(group)
        if party is None:
            party = self._of_groups[group] = self._gather(group)
        return party

    def _gather(self, group: tuple[int, ...]) -> Party:
        """The resources of a collective: all ports of the group's ranks, to the kinds of link that connect them."""
        here = [r for r in group if self._present is None or r in self._present]
        nodes = {self.cluster.node(r) for r in group}
        kinds = [self._inside] * (len(nodes) < len(group)) + [self._between] * (len(nodes) > 1)
        ports = [ports[r] for kind in kinds for ports in kind for r in here]
        return Party(here, {r: seat for seat, r in enumerate(group)}, ports, self.cores.collective(group))

    def _idle(self, ports: Sequence[Calendar], cores: Demand, ready: float, seconds: float) -> float:
        """The earliest time from ``ready`` on at which ports and cores are idle for ``seconds``; books the cores."""
        start = together(ports, ready, seconds)
        if cores and seconds:
            while (later := self.cores.earliest(cores, start, seconds)) > start:
                start = together(ports, later, seconds)
            self.cores.book(cores, start, seconds)
        return start

    def _let_go(self, send: Operation) -> None:
        """Complete a buffered send: its data has been copied, and the sender need not wait for the receiver."""
        moment = send.posted if self._queues is None else self._queues.ready((send,))
        if moment is not None:
            self._over(send, moment, moment)

    def _over(self, operation: Operation, start: float, end: float) -> None:
        operation.start, operation.end = start, end
        if operation.waiting:
            operation.waiting = False
            self._wake(operation.rank, end)
        if self._queues:
            self._queues.over(operation)


def turn(operations: Ends) -> tuple[int, int, int]:
    """The order of booking among operations that are ready at the same time."""
    first = operations[0]
    return first.turn, first.rank, first.number


def check_fits(send: Operation, recv: Operation) -> None:
    a, b = send.tensors, recv.tensors
    if send.nbytes != recv.nbytes or a.dtype is not b.dtype:
        for end in (send, recv):
            end.fits = ((end.tensors.numel(), dtype_name(end.tensors.dtype)),)
        if error := mismatch.of_message(send, recv):
            raise error
