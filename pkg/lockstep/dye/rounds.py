"""The rounds of an algorithm: what each rank's buffer holds before each round of messages.

The buffer that becomes a rank's result is read whenever the rank posts a message. This works on the virtual cluster
only, where a process group is a Python object, and for answers that send and receive. Step t shows what ranks hold
after t rounds of messages and the computation on them, followed by the messages of the next round. The *round* of a
message is one more than that of any message that its sender had sent or received before, or its receiver had received,
in virtual time.

Before a rank has used the buffer of its result, its argument is read. What is unknown is None: a rank that posts
nothing at the right time, memory that has not been written. An answer whose messages depend on the values has no steps.
The result may be in another tensor, as for ``x / K``; then the steps are those of the tensor that it was computed from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
import torch.distributed as dist

from lockstep.dye.decoding import Left, Posted, row_of
from lockstep.dye.encoding import Digits
from lockstep.dye.provenance import Dyed, Move, Row, Step
from lockstep.events import POINT_TO_POINT, Event, Trace


class Watch:
    """A context that records each message that this rank posts. ``chosen``: the number of its result's buffer."""

    def __init__(self, group: Any, tensor: torch.Tensor) -> None:
        self.group: Any = group or dist.group.WORLD
        self.kinds = POINT_TO_POINT if hasattr(self.group, "__dict__") else ()  # those of real backends are in C++
        self.dtype, self.nbytes = tensor.dtype, tensor.numel() * tensor.element_size()
        self.buffers: dict[int, torch.Tensor] = {}
        self.posted: list[Posted] = []
        self.used: list[int] = []
        self.know(tensor)

    def __enter__(self) -> Watch:
        for kind in self.kinds:
            setattr(self.group, kind, self._noting(kind, getattr(self.group, kind)))
        return self

    def __exit__(self, *_: object) -> None:
        for kind in self.kinds:
            delattr(self.group, kind)

    def _noting(self, kind: str, post: Any) -> Any:
        def noting(tensors: Sequence[torch.Tensor], peer: int, tag: int = 0) -> Any:
            number = self.know(tensors[0])
            if number is not None and kind == "send":
                self.used.append(number)
            numbers = tensors[0].flatten().tolist() if kind == "send" else []
            self.posted.append(Posted(kind, peer, tag, numbers, [b.tolist() for b in self.buffers.values()]))
            return post(tensors, peer, tag)

        return noting

    def know(self, tensor: torch.Tensor) -> int | None:
        """The number of a tensor's buffer; None if it does not have the size of the argument."""
        memory = tensor.untyped_storage()
        if tensor.dtype != self.dtype or memory.nbytes() != self.nbytes:
            return None
        if memory.data_ptr() not in self.buffers:
            self.buffers[memory.data_ptr()] = torch.empty(0, dtype=self.dtype).set_(memory)
        return list(self.buffers).index(memory.data_ptr())

    def chosen(self, result: Any) -> int:
        """The buffer of the result, or else the one that is sent most often, or else the argument."""
        there = self.know(result) if isinstance(result, torch.Tensor) else 0
        known = len(self.posted[-1].buffers) if self.posted else 0
        if there is not None and there < known:
            return there
        return max(self.used, key=self.used.count, default=0)


# ---- from posts to steps


def read_steps(dyed: Dyed, digits: Digits, left: Sequence[Sequence[Left]], trace: Trace) -> tuple[Step, ...]:
    """The steps; () if the answer does not send the same messages in each call, or one of them is no sum."""
    one_call = of_call(trace, 1)
    posted: list[list[Event]] = []
    looks: list[list[Look]] = []
    carried: list[list[Row]] = []
    for rank, of_rank in zip(dyed.members, left, strict=True):
        kinds = [[(p.kind, p.peer, p.tag) for p in call.posted] for call in of_rank]
        events = in_order(dyed, of_rank[1].posted, posts(one_call, rank))
        if events is None or any(kind != kinds[0] for kind in kinds) or len({call.chosen for call in of_rank}) > 1:
            return ()
        numbered = range(len(events))
        rows = [row_of(dyed, digits, [call.posted[n].numbers for call in of_rank[:-1]]) for n in numbered]
        if None in rows:
            return ()
        posted.append(events)
        carried.append([row for row in rows if row is not None])
        looks.append([Look(events[n].posted, look_at(dyed, digits, of_rank, n)) for n in numbered])
    return tuple(frames(messages(posted), dyed.members, looks, dyed.rows, carried))


def of_call(trace: Trace, number: int) -> Trace:
    """The events of one call, between two barriers of ``dyed_run.play``, which have no line of the learner's."""
    kept = []
    for rank in range(trace.ranks):
        call = -1
        for event in trace.of_rank(rank):
            call += event.kind == "barrier" and not event.where
            kept += [event] if call == number else []
    return Trace.of(kept, trace.ranks)


def in_order(dyed: Dyed, posted: Sequence[Posted], events: list[Event]) -> list[Event] | None:
    """The event of each posted message; None if they do not match."""
    left, found = list(events), []
    for post in posted:
        same = (e for e in left if (e.kind, e.peer, e.tag) == (post.kind, dyed.members[post.peer], post.tag))
        event = next(same, None)
        if event is None:
            return None
        left.remove(event)
        found.append(event)
    return found if not left else None


def look_at(dyed: Dyed, digits: Digits, of_rank: Sequence[Left], post: int) -> Row | None:
    """What the buffer of the result (or the argument, before there was such a buffer) held at this post; None if it is
    no sum."""
    buffers = [call.posted[post].buffers for call in of_rank[:-1]]
    known = all(call.chosen < len(of_call) for call, of_call in zip(of_rank, buffers, strict=False))
    return row_of(dyed, digits, [of_call[of_rank[0].chosen if known else 0] for of_call in buffers])


class Message(NamedTuple):
    """A message: its two events, and the number of the sender's post."""

    sent: Event
    received: Event
    number: int


class Look(NamedTuple):
    """What a rank's buffer held when it posted something at ``time``."""

    time: float
    row: Row | None


def messages(posted: Sequence[Sequence[Event]]) -> list[Message]:
    """Sends with their receives, in the order of their arrival. ``posted[rank]``: in the rank's order."""
    received = {e.message: e for of_rank in posted for e in of_rank if e.kind == "recv" and e.message is not None}
    found = [
        Message(event, received[event.message], number)
        for of_rank in posted
        for number, event in enumerate(of_rank)
        if event.kind == "send" and event.message in received
    ]
    return sorted(found, key=lambda m: m.received.end)


def posts(trace: Trace, rank: int) -> list[Event]:
    return [e for e in trace.of_rank(rank) if e.kind in POINT_TO_POINT]


def rounds(found: Sequence[Message]) -> list[int]:
    """The round of each message, from 1 on."""
    made: list[int] = []
    for n, m in enumerate(found):
        before = [
            made[i]
            for i, b in enumerate(found[:n])
            if (b.received.rank == m.sent.rank and b.received.end <= m.sent.posted)
            or (b.sent.rank == m.sent.rank and b.sent.posted < m.sent.posted)
            or b.received.rank == m.received.rank
        ]
        made.append(1 + max(before, default=0))
    return made


def frames(
    found: Sequence[Message],
    group: Sequence[int],
    looks: Sequence[Sequence[Look]],
    last: Sequence[Row],
    carried: Sequence[Sequence[Row]],
) -> Iterator[Step]:
    """The state before each round, and at the end. ``looks[rank]``: its buffer at each post; ``last[rank]``: its
    result; ``carried[rank][number]``: what was sent."""
    made = rounds(found)
    most = max(made, default=0)
    for done in range(most):
        rows = [_row(found, made, done, rank, looks[seat], last[seat]) for seat, rank in enumerate(group)]
        now = [m for m, number in zip(found, made, strict=True) if number == done + 1]
        yield Step(tuple(rows), tuple(sorted(_move(m, group, carried) for m in now)))
    yield Step(tuple(last), ())


def _move(message: Message, group: Sequence[int], carried: Sequence[Sequence[Row]]) -> Move:
    source, target = group.index(message.sent.rank), group.index(message.received.rank)
    elements = {part.element for cell in carried[source][message.number] for part in cell}
    return Move(source, target, tuple(sorted(elements)))


def _row(
    found: Sequence[Message], made: Sequence[int], done: int, rank: int, looks: Sequence[Look], last: Row
) -> Row | None:
    """What the rank's buffer holds after ``done`` rounds, if it was read before the next message arrived."""
    mine = [(m, number) for m, number in zip(found, made, strict=True) if rank in (m.sent.rank, m.received.rank)]
    over = max((m.received.end for m, number in mine if number <= done), default=0.0)
    coming = min((m.received.end for m, n in mine if n > done and m.received.rank == rank), default=None)
    look = next((look for look in looks if look.time >= over), None)
    if look is None:
        return last if coming is None else None
    return look.row if coming is None or look.time < coming else None
