"""Who is served when: messages find their partners, and links and ports say how long they take.

A message costs alpha + n·beta of its link (Hockney 1994) and holds the sender's way out and the receiver's way in
for that time: a rank sends one message at a time and receives one at a time, both at once if it likes. That is the
one-port, full-duplex model of Thakur, Rabenseifner and Gropp (2005). A blocking send is a rendezvous, as on gloo and
NCCL: it takes until the receiver has the data. (``eager=True`` buffers it instead, as MPI does with small messages.)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import count

import torch

from lockstep import explain
from lockstep.cost.cores import Cores
from lockstep.cost.network import collective_time
from lockstep.errors import Mismatch, Standing
from lockstep.explain import ANY_SOURCE, dtype_name
from lockstep.machines import Cluster
from lockstep.virtual import movement
from lockstep.virtual.operations import Operation

Channel = tuple[str, int, int, int]  # group name, source, destination, tag


class Network:
    """Settles operations: sets their times, moves their data, wakes who waits for them."""

    def __init__(self, ranks: int, cluster: Cluster, eager: bool, wake: Callable[[int, float], None]) -> None:
        self.cluster = cluster
        self.cores = Cores(cluster)
        self.eager = eager
        self.in_flight = 0
        self._wake = wake
        self._out = [0.0] * ranks  # when each rank's way out is free again
        self._in = [0.0] * ranks
        self._sends: dict[Channel, deque[Operation]] = {}
        self._recvs: dict[Channel, deque[Operation]] = {}
        self._from_any = False  # whether a rank has ever received from any source
        self._meetings: dict[tuple[str, tuple[int, ...], int], list[Operation]] = {}
        self._ids = count()

    def send(self, send: Operation) -> None:
        assert send.peer is not None
        recv = self._partner_of_send(send)
        if recv is not None:
            self._transfer(send, recv)
            return
        if self.eager:
            send.tensors = movement.buffered(send.tensors)
            send.started, send.done = send.posted, send.posted
        put(self._sends, (send.group_name, send.rank, send.peer, send.tag), send)

    def recv(self, recv: Operation) -> None:
        assert recv.peer is not None
        send = self._partner_of_recv(recv)
        if send is not None:
            self._transfer(send, recv)
        else:
            self._from_any = self._from_any or recv.peer == ANY_SOURCE
            put(self._recvs, (recv.group_name, recv.peer, recv.rank, recv.tag), recv)

    def join(self, part: Operation, sequence: int, move: Callable[[list[Operation]], None]) -> None:
        """One more rank comes to a collective; the last one to come carries it out."""
        key = part.group_name, part.group, sequence
        parts = self._meetings.setdefault(key, [])
        parts.append(part)
        if part.signature != parts[0].signature:
            raise mismatch(parts)
        part.together = parts
        if len(parts) == len(part.group):
            del self._meetings[key]
            self._carry_out(sorted(parts, key=lambda p: part.group.index(p.rank)), move)

    def unmatched(self) -> Iterator[Operation]:
        """Messages that nobody has received, receives that nobody has served, collectives that not all have joined."""
        for queues in (self._sends, self._recvs):
            for queue in queues.values():
                yield from queue
        for parts in self._meetings.values():
            yield from parts

    def _partner_of_send(self, send: Operation) -> Operation | None:
        """The receive that was posted first, among those for this source and those for any."""
        named = self._recvs.get((send.group_name, send.rank, send.peer or 0, send.tag))
        if not self._from_any:
            return named.popleft() if named else None
        open_ = self._recvs.get((send.group_name, ANY_SOURCE, send.peer or 0, send.tag))
        if named and open_:
            return min(named, open_, key=lambda q: q[0].posted).popleft()
        return named.popleft() if named else open_.popleft() if open_ else None

    def _partner_of_recv(self, recv: Operation) -> Operation | None:
        """The send that was posted first; ties go to the lowest rank."""
        if recv.peer != ANY_SOURCE:
            queue = self._sends.get((recv.group_name, recv.peer or 0, recv.rank, recv.tag))
            return queue.popleft() if queue else None
        queues = [self._sends.get((recv.group_name, s, recv.rank, recv.tag)) for s in recv.group]
        waiting = [q for q in queues if q]
        return min(waiting, key=lambda q: (q[0].posted, q[0].rank)).popleft() if waiting else None

    def _transfer(self, send: Operation, recv: Operation) -> None:
        check_fits(send, recv)
        link = self.cluster.link(send.rank, recv.rank)
        start = max(send.posted, recv.posted, self._out[send.rank], self._in[recv.rank])
        seconds = link.time(send.nbytes) * send.stretch if send.rank != recv.rank else 0.0
        end = start + self.cores.carry(send.rank, recv.rank, start, seconds)
        self._out[send.rank] = self._in[recv.rank] = end
        movement.message(send.tensors, recv.tensors)
        recv.peer = send.rank
        send.message = recv.message = next(self._ids)
        self._settle(recv, start, end)
        if send.done is None:
            self._settle(send, start, end)

    def _carry_out(self, parts: list[Operation], move: Callable[[list[Operation]], None]) -> None:
        group = parts[0].group
        start = max(max(p.posted for p in parts), *(max(self._out[r], self._in[r]) for r in group))
        seconds = collective_time(parts[0].kind, max(p.nbytes for p in parts), group, self.cluster)
        seconds *= max(p.stretch for p in parts)
        end = start + self.cores.collective(group, start, seconds)
        for r in group:
            self._out[r] = self._in[r] = end
        try:
            move(parts)
        except Mismatch as error:
            error.standings = tuple(map(standing, parts))
            raise
        message = next(self._ids)
        for part in parts:
            part.message = message
            self._settle(part, start, end)

    def _settle(self, operation: Operation, start: float, end: float) -> None:
        operation.started, operation.done = start, end
        operation.tensors = None
        if operation.waiting:
            operation.waiting = False
            self._wake(operation.rank, end)


def put(queues: dict[Channel, deque[Operation]], channel: Channel, operation: Operation) -> None:
    queue = queues.get(channel)
    if queue is None:
        queue = queues[channel] = deque()
    queue.append(operation)


def check_fits(send: Operation, recv: Operation) -> None:
    a: torch.Tensor = send.tensors
    b: torch.Tensor = recv.tensors
    if send.nbytes != recv.nbytes or a.dtype is not b.dtype:
        raise explain.misfit(send.rank, describe(a), recv.rank, describe(b), [standing(send), standing(recv)])


def mismatch(parts: list[Operation]) -> Mismatch:
    """The last one to come does not fit the others, of which the lowest rank is named."""
    pair = sorted([min(parts[:-1], key=lambda p: p.rank), parts[-1]], key=lambda p: p.rank)
    kinds = {p.rank: p.kind for p in pair}
    return explain.different(kinds, [standing(p, signed=True) for p in parts])


def standing(operation: Operation, signed: bool = False) -> Standing:
    told = f"{operation} {operation.detail}".rstrip() if signed else str(operation)
    place = operation.place
    return Standing(operation.rank, "waiting", told, str(place), place.source, operation.waits_for)


def describe(tensor: torch.Tensor) -> str:
    return f"{tensor.numel()} elements of {dtype_name(tensor.dtype)}"
