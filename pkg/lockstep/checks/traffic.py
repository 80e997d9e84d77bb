"""Arithmetic on a trace: messages, bytes of each rank, and rounds.

A *round* is a step in which a rank sends at most one message and receives at most one. ``rounds`` is how many of them
the longest chain of dependent messages takes: what alpha is multiplied by. It is counted from the order of each
rank's own events, never by comparing two ranks' clocks, so it is the same in every world."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass

from lockstep.events import COLLECTIVES, Event, Trace


@dataclass(frozen=True)
class Message:
    """A send and the recv that took it."""

    source: int
    target: int
    nbytes: int
    sent: Event
    received: Event


def messages(trace: Trace) -> list[Message]:
    """Sends joined with their receives: the first with the first, for each source, target and tag. Empty ones left
    out."""
    waiting: dict[tuple[int, int | None, int], deque[Event]] = defaultdict(deque)
    for event in trace.of_kind("recv"):
        waiting[event.rank if event.peer is None else event.peer, event.rank, event.tag].append(event)
    joined = []
    for event in trace.of_kind("send"):
        queue = waiting[event.rank, event.peer, event.tag]
        if queue and event.peer is not None:
            joined.append(Message(event.rank, event.peer, event.nbytes, event, queue.popleft()))
    return [m for m in joined if m.nbytes]


def collectives(trace: Trace, kinds: Iterable[str] = COLLECTIVES) -> list[Event]:
    """The collectives among ``kinds`` that any rank called."""
    return [e for e in trace if e.kind in set(kinds)]


def sent(trace: Trace) -> Counter[int]:
    """Bytes that each rank sent by messages."""
    total: Counter[int] = Counter()
    for message in messages(trace):
        total[message.source] += message.nbytes
    return total


def number_sent(trace: Trace) -> Counter[int]:
    """Messages that each rank sent."""
    return Counter(m.source for m in messages(trace))


def number_received(trace: Trace) -> Counter[int]:
    """Messages that each rank received."""
    return Counter(m.target for m in messages(trace))


def hub(trace: Trace) -> int | None:
    """The one rank that every message comes from or goes to, if there is one and it talks to more than one other."""
    found = messages(trace)
    ends = Counter(rank for m in found for rank in (m.source, m.target))
    busiest = max(ends, key=lambda r: ends[r], default=None)
    return busiest if busiest is not None and len(ends) > 2 and ends[busiest] == len(found) else None


def rounds(trace: Trace) -> int:
    """The longest chain of dependent messages."""
    return max(_levels(messages(trace)).values(), default=0)


def _levels(found: list[Message]) -> dict[int, int]:
    """For each message the round in which it can travel at the earliest: one after its sender's earlier sends, its
    receiver's earlier receives, and all that either of them had waited for when it asked for this one."""
    agenda = {rank: deque(rows) for rank, rows in _agendas(found).items()}
    level: dict[int, int] = {}
    left: dict[int, int] = {}  # the round in which the sender can send it
    ready: dict[int, int] = {}  # the round after which the receiver waits for it
    done: Counter[int] = Counter()  # the latest round of what a rank has waited for
    sent: Counter[int] = Counter()  # the round of a rank's latest send
    got: Counter[int] = Counter()  # the round of a rank's latest receive
    moved = True
    while moved:
        moved = False
        for rank, rows in agenda.items():
            while rows and _may_happen(*rows[0], left, ready, level):
                action, number = rows.popleft()
                moved = True
                if action == "send":
                    sent[rank] = left[number] = 1 + max(sent[rank], done[rank])
                elif action == "ask":
                    ready[number] = done[rank]
                elif action == "receive":
                    got[rank] = level[number] = max(left[number], 1 + ready[number], 1 + got[rank])
                    done[rank] = max(done[rank], level[number])
                else:
                    done[rank] = max(done[rank], level[number])
    return level


def _may_happen(action: str, number: int, left: dict[int, int], ready: dict[int, int], level: dict[int, int]) -> bool:
    needs = {"receive": (left, ready), "stood": (level,)}.get(action, ())
    return all(number in known for known in needs)


def _agendas(found: list[Message]) -> dict[int, list[tuple[str, int]]]:
    """What each rank did, in its order: a send and a receive when it asked for them, and when it could go on."""
    rows: dict[int, list[tuple[float, int, str, int]]] = defaultdict(list)
    for number, m in enumerate(found):
        rows[m.source].append((m.sent.posted, 1, "send", number))
        rows[m.target].append((m.received.posted, 1, "ask", number))
        rows[m.target].append((m.received.end, 0, "receive", number))
        if m.sent.wait:  # what a rank asks for after it has waited for a send comes after that send
            rows[m.source].append((m.sent.end, 0, "stood", number))
    return {rank: [(action, number) for *_, action, number in sorted(r)] for rank, r in rows.items()}
