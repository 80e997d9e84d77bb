"""Races of a run: asynchronous operations that nobody waited for, and buffers that were used while they were in flight.

Such a program is right by luck. The trace has the facts (``Event.awaited``, ``changed`` and ``early``); the sentences
are made here. ``early`` and ``changed`` are known on the virtual cluster only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lockstep.errors import Race
from lockstep.events import COLLECTIVES, POINT_TO_POINT, Event, Trace

MOST = 4  # sentences

Kind = tuple[bool, bool, str, str, str]


def of(trace: Trace) -> list[Event]:
    """The operations with a race, those that receive first: they explain more."""
    certain = (*POINT_TO_POINT, *COLLECTIVES) if trace.world == "virtual" else POINT_TO_POINT
    found = [e for e in trace if e.early or e.changed or (not e.awaited and e.kind in certain)]
    return sorted(found, key=lambda e: (e.kind == "send", e.posted, e.rank))


def told(races: Iterable[Event]) -> tuple[str, ...]:
    """A sentence for each line with a race, and the ranks that it concerns."""
    alike: dict[Kind, list[Event]] = {}
    for e in races:
        alike.setdefault((bool(e.early), e.changed, e.kind, e.where, e.early), []).append(e)
    sentences = [sentence(events[0], sorted({e.rank for e in events})) for events in alike.values()]
    more = len(sentences) - MOST
    return (*sentences[:MOST], *([f"And {more} more of that kind."] if more > 0 else []))


def pending(trace: Trace, rank: int) -> list[Event]:
    """What ``rank`` had posted and not waited for when its run ended, of operations that write to its tensors."""
    return [e for e in trace.communication if e.rank == rank and not e.awaited and e.kind != "send"]


def told_pending(events: Sequence[Event]) -> str:
    """The same in a sentence: values that a rank has compared may be those that had not arrived."""
    first = events[0]
    whom = f" from rank {first.peer}" if first.kind == "recv" and first.peer is not None else ""
    place = f" ({first.where})" if first.where else ""
    more = f", nor for {len(events) - 1} more" if events[1:] else ""
    return f"When it failed, rank {first.rank} had not waited for its {call(first)}{whom}{place}{more}."


def error(races: Sequence[Event]) -> Race:
    return Race("\n".join(told(races)))


def sentence(event: Event, ranks: Sequence[int]) -> str:
    who = f"Rank {ranks[0]}" if len(ranks) == 1 else f"Ranks {', '.join(map(str, ranks[:8]))}{', …' * (len(ranks) > 8)}"
    s, place = "s" * (len(ranks) == 1), f" ({event.where})" if event.where else ""
    where = f" at {event.early}" if event.early else ""
    if event.changed:
        return f"{who} change{s} a tensor{where} before the {call(event)} that sends it{place} has been waited for."
    if event.early:
        return f"{who} use{s} a tensor{where} before the {call(event)} that writes to it{place} has been waited for."
    return f"{who} never wait{s} for {'its' if s else 'their'} {call(event)}{place}."


def call(event: Event) -> str:
    """The operation as a program calls it."""
    return f"i{event.kind}" if event.kind in POINT_TO_POINT else f"{event.kind} with async_op=True"
