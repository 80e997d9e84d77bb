"""Rallies: a message from one rank to another, and the one that answers it. What is said of them is read from each
rank's own clock, never by comparing two, so it holds in every world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.traffic import Message, messages
from lockstep.checks.wording import counted


@dataclass(frozen=True)
class Rally:
    ping: Message
    pong: Message

    @property
    def seconds(self) -> float:
        """From the ping's leaving until the pong is back, by the clock of the rank that serves."""
        return self.pong.received.end - self.ping.sent.posted

    @property
    def answered(self) -> bool:
        """Whether the pong left after the ping had arrived, by the clock of the rank that answers."""
        return self.pong.sent.posted >= self.ping.received.end


def rallies(seen: Seen) -> list[Rally]:
    """Those of the first two ranks of the group: the first ping with the first pong, as they left."""
    return [Rally(ping, pong) for ping, pong in zip(*_played(seen), strict=False)]


def _played(seen: Seen) -> tuple[list[Message], list[Message]]:
    """Pings and pongs."""
    (zero, one), found = seen.case.members[:2], sorted(messages(seen.trace), key=lambda m: m.sent.posted)
    pings, pongs = ([m for m in found if (m.source, m.target) == way] for way in ((zero, one), (one, zero)))
    return pings, pongs


def unplayed(seen: Seen, nbytes: int, repeats: int) -> Fault | None:
    """What keeps this from being ``repeats`` rallies of messages of ``nbytes``. One rally more to warm up is fine."""
    begin, (zero, one), found = f"With {seen.case}", seen.case.members[:2], messages(seen.trace)
    pings, pongs = _played(seen)
    stranger = next((rank for m in found for rank in (m.source, m.target) if rank not in (zero, one)), None)
    if stranger is not None:
        why = "and shares the wires that you measure: only ranks 0 and 1 of the group play."
        return Fault("others-not-idle", f"{begin}, rank {stranger} takes part too, {why}")
    if not found:
        return Fault("no-messages", f"{begin}, no message goes between ranks {zero} and {one} by send and recv.")
    if not (pings and pongs):
        silent, waiting = (one, zero) if pings else (zero, one)
        why = f"without an answer rank {waiting} does not know when its message arrived"
        return Fault("one-way", f"{begin}, rank {silent} sends nothing: {why}.")
    sent = next((m.nbytes for m in found if m.nbytes != nbytes), None)
    if sent is not None:
        return Fault("wrong-values", f"{begin}, a message has {counted(sent, 'byte')} instead of {nbytes:,}.")
    if len(pings) != len(pongs) or len(pings) not in (repeats, repeats + 1):
        went = f"{counted(len(pings), 'ping')} and {counted(len(pongs), 'pong')} go"
        return Fault("ignores-repeats", f"{begin}, {went}; repeats={repeats} asks for {repeats} of each.")
    return _together(begin, one, rallies(seen))


def _together(begin: str, one: int, found: Sequence[Rally]) -> Fault | None:
    """Messages that should follow one another and travel at the same time."""
    if any(before.pong.received.end > after.ping.sent.posted for before, after in pairwise(found)):
        why = "several messages travel at once, and the time is not that of one"
        return Fault("pipelined", f"{begin}, a ping leaves before the pong of the one before is back: {why}.")
    if not all(rally.answered for rally in found):
        why = "both travel at the same time. Receive the ping first, then answer it"
        return Fault("both-at-once", f"{begin}, rank {one} sends its pong before the ping is there: {why}.")
    return None
