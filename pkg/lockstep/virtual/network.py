"""When communication takes place: links and ports say how long it takes, and who waits for whom.

A message costs alpha + n·beta of its link (Hockney 1994) and holds the sender's way out and the receiver's way in for
that time: a rank sends one message at a time and receives one at a time, both at once if it likes. That is the
one-port, full-duplex model of Thakur, Rabenseifner and Gropp (2005). A rank has a port to either kind of link, inside
its node and between nodes.

A message is *ready* when both of its ends are posted; a collective, when all of its parts are. What becomes ready at
one virtual moment is booked together, when no rank can act at that moment any more:

    (1) in the order of (destination - source) mod K of the group, then of the source, then of posting: in each turn of
        an all-to-all every rank sends to another one. A collective comes before the messages of its moment.
    (2) each takes the earliest interval of its length, from its readiness and the end of its pair's previous message
        on, in which all that it needs is idle: ports, and cores where ranks share some.
    (3) What is booked never moves.

So the order in which a program posts its messages at one moment does not matter, and no port stays idle while something
that is ready could use it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from lockstep.comm import agreement
from lockstep.comm.backend_rules import Rules
from lockstep.comm.matcher import Matcher
from lockstep.comm.operation import Operation
from lockstep.cost.calendar import Calendar, together
from lockstep.cost.cores import Cores, Demand
from lockstep.cost.network import collective_time
from lockstep.deadlock_report import dtype_name
from lockstep.errors import Mismatch
from lockstep.machines import Cluster, Link
from lockstep.virtual import movement
from lockstep.virtual.queues import Ends, Queues

NEVER = float("inf")

Mover = Callable[[list[Operation]], None]


@dataclass(eq=False, slots=True)
class Route:
    """What messages from one rank to another need; ``link``: none to oneself; ``last``: when their last one ends."""

    link: Link | None
    out: Calendar
    into: Calendar
    cores: Demand
    last: float = 0.0


class Network:
    """Settles operations: moves their data when they have met, sets their times, wakes who waits for them.

    ``moment``: when something is to be booked next. The scheduler calls ``settle`` when no rank can act any more at
    that time."""

    def __init__(self, ranks: int, cluster: Cluster, rules: Rules, wake: Callable[[int, float], None]) -> None:
        self.cluster, self.rules = cluster, rules
        self.cores = Cores(cluster)
        self.moment = NEVER
        self._wake = wake
        self._matcher = Matcher(rules)
        self._queues = Queues(self._resume) if rules.in_order else None
        self._ready: list[Ends] = []  # at ``moment``
        self._later: dict[float, list[Ends]] = {}  # by moment
        ports = [[Calendar() for _ in range(ranks)] for _ in range(4)]
        self._inside, self._between = (ports[0], ports[1]), (ports[2], ports[3])  # ways out, ways in: by rank
        self._routes: dict[tuple[int, int], Route] = {}  # by source and destination
        self._ids = count()

    # ---- what ranks post

    def send(self, send: Operation) -> None:
        if self._queues:
            self._queues.post(send)
        recv = self._matcher.send(send)
        if send.nbytes <= self.rules.eager:  # also when its receiver is there: who came first at one time is luck
            if recv is None:
                send.tensors = movement.buffered(send.tensors)
            self._let_go(send)
        if recv is not None:
            self._meet(send, recv)
        elif self._matcher.contested:
            self._due(send.posted)

    def recv(self, recv: Operation) -> None:
        if self._queues:
            self._queues.post(recv)
        send = self._matcher.recv(recv)
        if send is not None:
            self._meet(send, recv)
        elif self._matcher.contested:
            self._due(recv.posted)

    def join(self, part: Operation, sequence: int, move: Mover) -> None:
        """One more rank comes to a collective; the last one to come carries it out."""
        if self._queues:
            self._queues.post(part)
        whole = self._matcher.join(part, sequence)
        doubtful = not agreement.agree(part, part.together[0]) or (whole and part.kind == "all_to_all")
        if doubtful and (error := agreement.of_collective(part.together)):
            raise error
        if whole:
            seats = {rank: seat for seat, rank in enumerate(part.group)}
            parts = sorted(part.together, key=lambda p: seats[p.rank])
            try:
                move(parts)
                for p in parts:
                    p.tensors = None
            except Mismatch as error:
                error.states = tuple(map(agreement.rank_state, parts))
                raise
            self._is_ready(tuple(parts), part.posted)

    def unmatched(self) -> Iterator[Operation]:
        return self._matcher.unmatched()

    # ---- what they have posted is booked

    def settle(self) -> None:
        """Book what has become ready at ``moment``. No rank can act then any more."""
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
        movement.message(send.tensors, recv.tensors)
        send.tensors = recv.tensors = None
        recv.peer = send.rank
        self._is_ready((send, recv), send.posted if send.posted >= recv.posted else recv.posted)

    def _is_ready(self, operations: Ends, moment: float) -> None:
        if self._queues:
            held_up = self._queues.ready(operations)
            if held_up is None:
                return  # something that was posted before is to be over first: Queues calls _resume
            moment = max(moment, held_up)
        self._due(moment).append(operations)

    def _resume(self, operations: Ends, moment: float) -> None:
        if len(operations) == 1:  # a buffered send, which is over as soon as it may begin
            self._over(operations[0], moment, moment)
        else:
            self._due(moment).append(operations)

    def _due(self, moment: float) -> list[Ends]:
        """What is to be settled then: nearly always the next moment, and the only one."""
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
        group = parts[0].group
        seconds = collective_time(parts[0].kind, max(p.nbytes for p in parts), group, self.cluster)
        seconds *= max(p.stretch for p in parts)
        ports = self._ports(group)
        start = self._idle(ports, self.cores.collective(group), now, seconds)
        if seconds:
            for port in ports:
                port.book(start, start + seconds, now)
        message = next(self._ids)
        for part in parts:
            part.message = message
            self._over(part, start, start + seconds)

    def _ports(self, group: Sequence[int]) -> list[Calendar]:
        """All of the group's, to the kinds of link that join its ranks."""
        nodes = {self.cluster.node(r) for r in group}
        kinds = [self._inside] * (len(nodes) < len(group)) + [self._between] * (len(nodes) > 1)
        return [ports[r] for kind in kinds for ports in kind for r in group]

    def _idle(self, ports: Sequence[Calendar], cores: Demand, ready: float, seconds: float) -> float:
        """The first moment from ``ready`` on from which ports and cores are idle for so long; the cores are booked."""
        start = together(ports, ready, seconds)
        if cores and seconds:
            while (later := self.cores.earliest(cores, start, seconds)) > start:
                start = together(ports, later, seconds)
            self.cores.book(cores, start, seconds)
        return start

    def _let_go(self, send: Operation) -> None:
        """It has been copied: the sender need not wait for the receiver."""
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
    """What is booked first of what is ready at one moment."""
    first = operations[0]
    return first.turn, first.rank, first.number


def check_fits(send: Operation, recv: Operation) -> None:
    a, b = send.tensors, recv.tensors
    if send.nbytes != recv.nbytes or a.dtype is not b.dtype:
        for end in (send, recv):
            end.fits = ((end.tensors.numel(), dtype_name(end.tensors.dtype)),)
        if error := agreement.of_message(send, recv):
            raise error
