"""Transfers that nobody waited for, or too late. Values may be right all the same, on this world and this time."""

from __future__ import annotations

from lockstep import races
from lockstep.checks.observation import Seen
from lockstep.events import Event

_WHY = {
    "send": "Until wait() returns, the tensor may not have left: it must not change, nor may the function end.",
    "recv": "Until wait() returns, nothing is sure to have arrived.",
}
_KEEP = "Keep what the call returns, and call wait() on it."


def unsafe(seen: Seen, wrong: bool = False) -> tuple[str, str] | None:
    """The misconception, and what to tell of a transfer that went well by luck. ``wrong``: values are wrong."""
    if told := never_waited(seen, wrong):
        return "never-waited", told
    if told := used_too_early(seen, wrong):
        return "reads-before-wait", told
    if told := changed_too_early(seen, wrong):
        return "changes-what-it-sends", told
    return None


def used_too_early(seen: Seen, wrong: bool = False) -> str:
    """What to tell of a tensor that was used before its data was sure to be there; empty if there is none."""
    early = [e for e in _races(seen) if e.early and not e.changed]
    if not early:
        return ""
    first = early[0]
    told = (
        f"With {seen.case}, rank {first.rank} uses the tensor of its {races.call(first)}{_place(first.where)} before "
        f"wait() has returned: at {first.early}. Until then nobody knows what it holds; here it is what it held before."
    )
    return f"{told} That is likely why values are wrong." if wrong else f"{told} Wait first."


def changed_too_early(seen: Seen, wrong: bool = False) -> str:
    """What to tell of a tensor that was changed while it was sent; empty if there is none."""
    changed = [e for e in _races(seen) if e.changed]
    if not changed:
        return ""
    first = changed[0]
    line = f", at {first.early}," if first.early else ""
    told = (
        f"With {seen.case}, rank {first.rank} changes the tensor of its {races.call(first)}{_place(first.where)}{line} "
        "before wait() has returned."
    )
    if wrong:
        return f"{told} That may be why values are wrong."
    return f"{told} Here it had left already; on real ranks it may still be on its way. Wait first."


def never_waited(seen: Seen, wrong: bool = False) -> str:
    """What to tell of a transfer that nobody waited for; empty if there is none, or if the run failed before it
    could. ``wrong``: the values are wrong, which a receive explains better than a send."""
    forgotten = [e for e in _races(seen) if not e.awaited]
    if not forgotten:
        return ""
    first = forgotten[0]
    why = _WHY.get(first.kind, "Until wait() returns, the result is not sure to be there.")
    told = f"With {seen.case}, rank {first.rank} never waits for its {races.call(first)}{_place(first.where)}."
    reason = f" That {'may be' if first.kind == 'send' else 'is likely'} why values are wrong." if wrong else ""
    return f"{told} {_KEEP} {why}{reason}"


def came_too_early(seen: Seen) -> bool:
    """Whether something that was to arrive was used before, or never waited for: what it held says nothing."""
    return any(e.kind != "send" and not e.changed for e in _races(seen))


def _races(seen: Seen) -> list[Event]:
    """In the order of the ranks, what receives before what only sends."""
    found = [] if seen.failure else races.of(seen.trace)
    return sorted(found, key=lambda e: (e.kind == "send", e.rank, e.posted))


def _place(where: str) -> str:
    return f" ({where})" if where else ""
