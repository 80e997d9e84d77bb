"""``ping_pong``: judged by its messages everywhere, and by the time it returns where time is virtual."""

from __future__ import annotations

import random

from lockstep.checks.case import Case
from lockstep.checks.communication.tensors import SUBGROUPS
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.traffic import Message, messages
from lockstep.checks.values import told
from lockstep.checks.wording import counted

POINTS = 2


def _cases(ranks: int, seed: int) -> list[Case]:
    """Messages long enough that a few operations beside them do not matter."""
    draw = random.Random(seed)
    groups: list[tuple[int, ...] | None] = [None, *([SUBGROUPS[ranks]] if ranks in SUBGROUPS else [])]
    settings = [{"nbytes": 1_000_000 + draw.randrange(1000), "repeats": draw.randint(4, 6)} for _ in groups]
    return [Case(ranks, seed + n, group, settings[n]) for n, group in enumerate(groups)]


def _inputs(case: Case, rank: int) -> tuple[int, int]:
    return case.settings["nbytes"], case.settings["repeats"]


def _examine(seen: Seen) -> Fault | None:
    for seat, rank in enumerate(seen.case.members):
        value = seen.returned[rank]
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return Fault("wrong-type", f"With {seen.case}, rank {rank} returns {told(value)}; seconds are wanted.")
        if value != 0 and (seat > 1 or seen.case.size == 1):
            return Fault("others-not-idle", f"With {seen.case}, rank {rank} has no part in this: it returns 0.0.")
    if seen.case.size == 1:
        return None
    return _messages(seen) or _seconds(seen)


def _messages(seen: Seen) -> Fault | None:
    """``repeats`` pings and as many pongs by turns, each of nbytes; one pair more to warm up is fine."""
    case, found = seen.case, messages(seen.trace)
    nbytes, repeats = case.settings["nbytes"], case.settings["repeats"]
    zero, one = case.members[:2]
    pings = [m for m in found if (m.source, m.target) == (zero, one)]
    pongs = [m for m in found if (m.source, m.target) == (one, zero)]
    begin = f"With {case}: "
    if len(pings) + len(pongs) < len(found):
        stranger = next(m.source for m in found if {m.source, m.target} != {zero, one})
        told = f"rank {stranger} takes part too, and shares the wires that you measure. Ranks 0 and 1 play alone."
        return Fault("others-not-idle", f"{begin}{told}")
    if not found:
        return Fault("no-messages", f"{begin}ranks 0 and 1 send nothing to each other.")
    if not pongs or not pings:
        return Fault(
            "one-way", f"{begin}rank {one} never answers, so rank {zero} cannot know when its message arrived."
        )
    if any(m.nbytes != nbytes for m in found):
        return _wrong_size(begin, next(m.nbytes for m in found if m.nbytes != nbytes), nbytes)
    if len(pings) != len(pongs) or len(pings) not in (repeats, repeats + 1):
        told = f"{counted(len(pings), 'ping')} and {counted(len(pongs), 'pong')} go; repeats={repeats} asks for "
        told += f"{repeats} of each."
        return Fault("ignores-repeats", f"{begin}{told}")
    if not _by_turns(pings, pongs):
        told = "a ping leaves before the pong of the one before is back: they travel together, and you time a pipeline."
        return Fault("pipelined", f"{begin}{told}")
    return None


def _wrong_size(begin: str, sent: int, nbytes: int) -> Fault:
    told = f"a message has {sent:,} bytes instead of {nbytes:,}."
    if sent in (2 * nbytes, 4 * nbytes, 8 * nbytes):
        why = f"An element of your tensor has {sent // nbytes} bytes; torch.uint8 has 1."
        return Fault("elements-not-bytes", f"{begin}{told} {why}")
    return Fault("wrong-size", f"{begin}{told}")


def _by_turns(pings: list[Message], pongs: list[Message]) -> bool:
    """Told by rank 0's own clock alone."""
    leaving = sorted(m.sent.posted for m in pings)
    back = sorted(m.received.end for m in pongs)
    return all(back[n] <= leaving[n + 1] for n in range(len(leaving) - 1))


UNITS = {"milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}


def _seconds(seen: Seen) -> Fault | None:
    """The returned time against the time that the messages took; where that is virtual. Elsewhere: it is above 0."""
    case, value = seen.case, seen.returned[seen.case.members[0]]
    if value <= 0:
        return Fault("wrong-time", f"With {case}: rank {case.members[0]} returns {value:g} seconds.")
    if seen.trace.world != "virtual":
        return None
    found = messages(seen.trace)
    one_way = (max(m.received.end for m in found) - min(m.sent.posted for m in found)) / len(found)
    ratio, repeats = value / one_way, case.settings["repeats"]
    begin = f"With {case}: you return {value * 1e6:.1f} µs; a message takes {one_way * 1e6:.1f} µs one way. "
    if 0.9 < ratio < 1.2:
        return None
    if 1.8 < ratio < 2.4:
        return Fault("round-trip", f"{begin}That is the way there and back: halve it.")
    unit = next((name for name, factor in UNITS.items() if 0.9 < ratio / factor < 1.2), "")
    if unit:
        return Fault("wrong-unit", f"{begin}You return {unit}; seconds are wanted.")
    if 0.9 < ratio / repeats < 2.6:
        return Fault("not-a-mean", f"{begin}That is all repeats together: divide by their number.")
    return Fault(
        "wrong-time", f"{begin}Take the time before the first ping and after the last pong, nothing else between."
    )


def _judge(observation: Observation) -> list[Finding]:
    return mark(observation, POINTS, _examine)


PING_PONG = Exercise(
    id="communication.ping_pong",
    title="Ping-pong",
    points=POINTS,
    minutes=15,
    parameters="nbytes, repeats, group=None",
    cases=_cases,
    inputs=_inputs,
    judge=_judge,
    reference="lockstep.collectives:ping_pong",
    worlds=(1, 2, 3, 4, 5),
)
