"""Transfers that nobody waited for, or too late. Values may be right all the same, on this world and this time."""

from __future__ import annotations

from lockstep.checks.observation import Seen
from lockstep.events import COLLECTIVES, POINT_TO_POINT, Event

_WHY = {
    "send": "Until wait() returns, the tensor may not have left: it must not change, nor may the function end.",
    "recv": "Until wait() returns, nothing is sure to have arrived.",
}
_KEEP = "Keep what the call returns, and call wait() on it."


def unsafe(seen: Seen, wrong: bool = False) -> tuple[str, str] | None:
    """The misconception, and what to tell of a transfer that went well by luck."""
    if told := never_waited(seen, wrong):
        return "never-waited", told
    if told := changed_too_early(seen, wrong):
        return "changes-what-it-sends", told
    return None


def changed_too_early(seen: Seen, wrong: bool = False) -> str:
    """What to tell of a tensor that was changed while it was sent; empty if there is none."""
    changed = [] if seen.failure else [e for e in seen.trace if e.changed]
    if not changed:
        return ""
    first = min(changed, key=lambda e: (e.rank, e.posted))
    place = f" ({first.where})" if first.where else ""
    told = f"With {seen.case}, rank {first.rank} changes the tensor of its isend{place} before wait() has returned."
    if wrong:
        return f"{told} That may be why values are wrong."
    return f"{told} Here it had left already; on real ranks it may still be on its way. Wait first."


def never_waited(seen: Seen, wrong: bool = False) -> str:
    """What to tell of a transfer that nobody waited for; empty if there is none, or if the run failed before it
    could. ``wrong``: the values are wrong, which a receive explains better than a send."""
    forgotten = [] if seen.failure else [e for e in seen.trace if not e.awaited and e.kind in _certain(seen)]
    if not forgotten:
        return ""
    first = min(forgotten, key=lambda e: (e.kind == "send", e.rank, e.posted))
    place = f" ({first.where})" if first.where else ""
    why = _WHY.get(first.kind, "Until wait() returns, the result is not sure to be there.")
    told = f"With {seen.case}, rank {first.rank} never waits for its {_call(first)}{place}. {_KEEP} {why}"
    reason = f" That {'may be' if first.kind == 'send' else 'is likely'} why values are wrong." if wrong else ""
    return told + reason


def _call(event: Event) -> str:
    return f"i{event.kind}" if event.kind in POINT_TO_POINT else f"{event.kind} with async_op=True"


def _certain(seen: Seen) -> tuple[str, ...]:
    """Real processes do not see a collective being waited for by its Future."""
    return (*POINT_TO_POINT, *COLLECTIVES) if seen.trace.world == "virtual" else POINT_TO_POINT
