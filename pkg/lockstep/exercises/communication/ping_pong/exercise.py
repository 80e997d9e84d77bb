"""Ping-pong: judged by its messages in every world, and by the time it returns where time is virtual. All that is said
is read from each rank's own clock, never by comparing two."""

import random
from itertools import pairwise
from statistics import fmean
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Comparison, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import number, number_of
from lockstep.checks.observation import Seen
from lockstep.checks.traffic import Message, collectives, messages
from lockstep.checks.values import told
from lockstep.checks.wording import counted
from lockstep.events import COLLECTIVES
from lockstep.exercises.communication.tensors import collective, groups

NEAR = 0.02  # of the mean: other operations take less than such long messages; the least and the median differ by more


def cases(ranks: int, seed: int) -> list[Case]:
    draw = random.Random(seed)
    settings = {"nbytes": 4_000_001 + 2 * draw.randrange(500), "repeats": draw.randint(5, 6)}
    return [Case(ranks, seed + n, group, settings) for n, group in enumerate(groups(ranks))]


def played(seen: Seen) -> list[list[Message]]:
    """Pings from rank 0 of the group to rank 1, and pongs back, as they left."""
    found, (zero, one) = sorted(messages(seen.trace), key=lambda m: m.sent.posted), seen.case.members[:2]
    return [[m for m in found if (m.source, m.target) == way] for way in ((zero, one), (one, zero))]


def misplayed(seen: Seen) -> str:
    """What keeps this from being as many rallies as asked for. One more to warm up is fine, of any size."""
    (pings, pongs), found, nbytes = played(seen), messages(seen.trace), seen.case.settings["nbytes"]
    went, repeats = (len(pings), len(pongs)), seen.case.settings["repeats"]
    turns = [m for rally in zip(pings, pongs, strict=False) for m in rally]
    if collectives(seen.trace, set(COLLECTIVES) - {"barrier"}):
        return "a collective moves something as well: pings and pongs are all that it takes"
    if len(found) > sum(went):
        return "another rank takes part, too, and shares the wires that you measure"
    if went not in [(repeats, repeats), (repeats + 1, repeats + 1)]:
        return f"{counted(went[0], 'ping')} and {counted(went[1], 'pong')} go; repeats asks for {repeats} of each"
    if wrong := {m.nbytes for m in turns[-2 * repeats :]} - {nbytes}:
        return f"a message has {counted(max(wrong), 'byte')} instead of {nbytes:,}"
    if any(after.sent.posted < before.received.end for before, after in pairwise(turns)):
        return "a message leaves before the one that it answers is there, and both travel at the same time"
    return ""


def one_way(seen: Seen) -> float:
    """Mean seconds, by the clock of rank 0, without the warm-up."""
    seconds = [pong.received.end - ping.sent.posted for ping, pong in zip(*played(seen), strict=False)]
    return fmean(seconds[-seen.case.settings["repeats"] :] or [2.0]) / 2


def examine(seen: Seen) -> Fault | None:
    begin, players = f"With {seen.case}", seen.case.members[:2] if seen.case.size > 1 else ()
    for rank, value in ((rank, seen.returned[rank]) for rank in seen.case.members):
        if number_of(value) is None:
            return Fault("wrong-type", f"{begin}, rank {rank} returns {told(value)}; a number is wanted.")
        if number_of(value) and rank not in players:
            return Fault(
                "others-not-idle",
                f"{begin}, rank {rank}, which has no part in this, returns {number_of(value):.3g}, not 0.0.",
            )
    said = misplayed(seen) if players else ""
    if said:
        return Fault("wrong-values", f"{begin}, {said}.")
    for rank, ratio in zip(players, alike(seen), strict=False):
        if ratio <= 0 or (seen.trace.world == "virtual" and abs(ratio - 1) > NEAR):
            right = f"{number(ratio)} times the mean time of one way, {1e6 * one_way(seen):,.1f} µs"
            return Fault("wrong-values", f"{begin}, rank {rank} returns {right}.")
    return None


def alike(seen: Seen) -> list[Any]:
    """What ranks 0 and 1 return, as multiples of what is right; how many times too long messages are; how many."""
    if seen.case.size == 1:
        return []
    returned = [number_of(seen.returned[rank]) or 0.0 for rank in seen.case.members[:2]]
    sizes = {m.nbytes / seen.case.settings["nbytes"] for m in messages(seen.trace)}
    return [*(float(f"{seconds / one_way(seen):.3g}") for seconds in returned), sorted(sizes), *map(len, played(seen))]


EXERCISE = collective(
    number=1,
    title="Ping-pong",
    points=2,
    minutes=15,
    parameters="nbytes, repeats, group=None",
    reference="lockstep.collectives:ping_pong",
    worlds=(1, 2, 3, 4, 5),
    cases=cases,
    inputs=lambda case, rank: (case.settings["nbytes"], case.settings["repeats"]),
    values=Values(examine=examine),
    comparison=Comparison(alike=alike),
    run=Run(timeout=5.0, jitter=0.3),
)
