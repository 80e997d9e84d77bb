"""Ping-pong: judged by its messages in every world, and by the time it returns where time is virtual."""

import random
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import number, number_of
from lockstep.checks.observation import Seen
from lockstep.checks.rallies import rallies, unplayed
from lockstep.checks.traffic import messages
from lockstep.checks.values import told
from lockstep.exercises.communication.tensors import SUBGROUPS


def cases(ranks: int, seed: int) -> list[Case]:
    """Messages so long that a few operations beside them do not matter, of an odd number of bytes."""
    draw = random.Random(seed)
    groups = [None, *([SUBGROUPS[ranks]] if ranks in SUBGROUPS else [])]
    settings = [{"nbytes": 4_000_001 + 2 * draw.randrange(500), "repeats": draw.randint(5, 6)} for _ in groups]
    return [Case(ranks, seed + n, group, settings[n]) for n, group in enumerate(groups)]


def inputs(case: Case, rank: int) -> tuple[int, int]:
    return case.settings["nbytes"], case.settings["repeats"]


def examine(seen: Seen) -> Fault | None:
    """Who returns a number, which messages went, and what time was told."""
    begin, alone = f"With {seen.case}, rank", seen.case.size == 1
    for seat, rank in enumerate(seen.case.members):
        value, plays = seen.returned[rank], seat < 2 and not alone
        if number_of(value) is None:
            return Fault(
                "wrong-type", f"{begin} {rank} returns {told(value)}; {'the time' if plays else '0.0'} is wanted."
            )
        if number_of(value) and not plays:
            return Fault(
                "others-not-idle",
                f"{begin} {rank} has no part in this and returns {number_of(value):.3g}: 0.0 is wanted.",
            )
    return None if alone else unplayed(seen, *inputs(seen.case, 0)) or mistimed(seen)


def mistimed(seen: Seen) -> Fault | None:
    """Times returned that are not those of the messages, where they are virtual. Elsewhere they must be above 0."""
    for rank, ratio in zip(seen.case.members, ratios(seen), strict=False):
        if ratio <= 0 or (seen.trace.world == "virtual" and not 0.95 <= ratio <= 1.05):
            times = f" That is {number(ratio)} times as long." if ratio > 0 else ""
            value, one_way = (f"{1e6 * factor * one_way_of(seen):,.1f} µs" for factor in (ratio, 1))
            return Fault(
                "wrong-values", f"With {seen.case}, rank {rank} returns {value}; one way takes {one_way}.{times}"
            )
    return None


def one_way_of(seen: Seen) -> float:
    """Mean seconds of the last ``repeats`` rallies, halved: a warm-up comes before them."""
    found = rallies(seen)[-seen.case.settings["repeats"] :]
    return sum(rally.seconds for rally in found) / max(1, len(found)) / 2


def ratios(seen: Seen) -> list[float]:
    """What ranks 0 and 1 return, as multiples of what is right."""
    right = one_way_of(seen) or 1.0
    return [(number_of(seen.returned[rank]) or 0.0) / right for rank in seen.case.members[:2]]


def alike(seen: Seen) -> Any:
    """How many times too long messages and times are."""
    nbytes, _ = inputs(seen.case, 0)
    sizes = sorted({m.nbytes / nbytes for m in messages(seen.trace)})
    return (sizes, [float(f"{ratio:.3g}") for ratio in ratios(seen)]) if seen.case.size > 1 else None


EXERCISE = Exercise(
    number=1,
    title="Ping-pong",
    points=2,
    minutes=15,
    parameters="nbytes, repeats, group=None",
    reference="lockstep.collectives:ping_pong",
    worlds=(1, 2, 3, 4, 5),
    cases=cases,
    inputs=inputs,
    examine=examine,
    alike=alike,
)
