"""``workers_needed``: Amdahl's law the other way round, with a whole number as the answer, or none."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.values import told
from lockstep.checks.why_parallel.formulas import number_of

POINTS = 2
Call = tuple[float, float, float]  # hours, p, deadline
Answer = int | float | None

_CASES = {"some": "deadlines that can be met", "none": "deadlines that nobody can meet", "one": "no hurry"}


def exact(hours: float, p: float, deadline: float) -> float:
    """The workers before rounding up: 1 or fewer where there is no hurry, infinite where there is no way."""
    left = deadline - (1 - p) * hours
    return p * hours / left if left > 0 else math.inf


def right(hours: float, p: float, deadline: float) -> int | None:
    s = exact(hours, p, deadline)
    return None if s == math.inf else max(1, math.ceil(s))


def _floor(*call: float) -> Answer:
    return math.floor(exact(*call)) if exact(*call) < math.inf else None


def _linear(hours: float, p: float, deadline: float) -> Answer:
    return max(1, math.ceil(hours / deadline))


def _parallel_only(hours: float, p: float, deadline: float) -> Answer:
    return max(1, math.ceil(p * hours / deadline))


def _gustafson(hours: float, p: float, deadline: float) -> Answer:
    return max(1, math.ceil((hours / deadline - (1 - p)) / p))


WRONG: Sequence[tuple[str, str, Callable[..., Answer]]] = (
    ("linear", "It looks as if s workers were s times as fast: hours / deadline. The serial part, (1 - p) · hours, is "
     "not divided.", _linear),
    ("forgets-serial-part", "It looks as if the parallel part had all of the deadline. First goes the serial part, "
     "(1 - p) · hours; only the rest is left for p · hours / s.", _parallel_only),
    ("gustafson", "This is Gustafson's law, in which the work grows. Here it is the same work: use Amdahl's.",
     _gustafson),
    ("rounds-down", "You round down. With so few workers the deadline is missed: round up (math.ceil).", _floor),
    ("rounds-to-nearest", "You round to the nearest number. Where that is down, the deadline is missed: round up "
     "(math.ceil).", lambda *call: round(exact(*call)) if exact(*call) < math.inf else None),
    ("one-too-many", "That is one worker too many: the fewest are wanted.",
     lambda *call: math.floor(exact(*call)) + 2 if exact(*call) < math.inf else None),
    ("not-a-whole-number", "You return a fraction of a worker. Round up (math.ceil).", exact),
    ("swapped-fractions", "It looks as if p were the serial fraction. Here p is the part that can be divided.",
     lambda hours, p, deadline: right(hours, 1 - p, deadline)),
)  # fmt: skip


def _cases(ranks: int, seed: int) -> list[Case]:
    return [Case(1, seed, settings={"told": told, "kind": kind}) for kind, told in _CASES.items()]


def calls(case: Case, rank: int = 0) -> tuple[Call, ...]:
    """Hours, p and deadlines; the exact number of workers is never near a whole one, where rounding would decide."""
    draw = random.Random(case.seed)
    rows: list[Call] = []
    while len(rows) < 12:
        hours, p = float(draw.randint(20, 2000)), draw.choice((0.6, 0.8, 0.9, 0.95, 0.97, 0.99, 0.999))
        share = {"some": draw.uniform(1.08, 6), "none": draw.uniform(0.1, 0.95), "one": math.nan}[case.settings["kind"]]
        deadline = hours * draw.uniform(1.01, 3) if case.settings["kind"] == "one" else share * (1 - p) * hours
        s = exact(hours, p, deadline)
        if case.settings["kind"] != "some" or (deadline < hours and 0.15 < s % 1 < 0.85):
            rows.append((hours, p, deadline))
    return tuple(rows)


def _examine(seen: Seen) -> Fault | None:
    asked, answers = calls(seen.case), seen.returned[0]
    for call, value in zip(asked, answers, strict=True):
        if value is not None and number_of(value) is None:
            return Fault("wrong-type", f"{_told(call)} returns {told(value)}; a whole number, or None, is wanted.")
    off = [(call, value) for call, value in zip(asked, answers, strict=True) if not _same(value, right(*call))]
    if not off:
        return None
    (hours, p, deadline), value = off[0]
    begin = f"With {seen.case}: {_told(off[0][0])} gives {told(value)}. "
    if seen.case.settings["kind"] == "none":
        serial = (1 - p) * hours
        why = f"The serial part alone takes {serial:.4g} hours, so no number of workers is enough: return None."
        return Fault("impossible-not-none", begin + why)
    if seen.case.settings["kind"] == "one":
        return Fault("at-least-one", f"{begin}One worker is done in {hours:g} hours: return 1.")
    for id, message, formula in WRONG:
        if all(_same(value, formula(*call)) for call, value in zip(asked, answers, strict=True)):
            return Fault(id, begin + message)
    return Fault("wrong-values", f"{begin}{_late(value, hours, p, deadline)}")


def _told(call: Call) -> str:
    hours, p, deadline = call
    return f"workers_needed({hours:g}, {p:g}, {deadline:.4g})"


def _late(value: Any, hours: float, p: float, deadline: float) -> str:
    """What comes of the learner's number: too late, or more workers than are needed."""
    s = number_of(value)
    if s is None or not 1 <= s < math.inf:
        return "A whole number of workers is wanted, 1 or more."
    taken = hours * ((1 - p) + p / s)
    if taken > deadline:
        return f"They take {taken:.4g} hours, by Amdahl's law: that is too long."
    return f"They take {taken:.4g} hours, by Amdahl's law. Fewer would do."


def _same(value: Any, wanted: Answer) -> bool:
    given = number_of(value)
    if given is None or wanted is None:
        return value is None and wanted is None
    return math.isclose(given, wanted, rel_tol=1e-9)


def _judge(observation: Observation) -> list[Finding]:
    return mark(observation, POINTS, _examine)


CHOOSE = Exercise(
    id="why_parallel.workers_needed",
    title="Choose the number of workers",
    points=POINTS,
    minutes=15,
    parameters="hours, p, deadline",
    cases=_cases,
    inputs=calls,
    judge=_judge,
    reference="lockstep.cost.speedup:workers_needed",
    worlds=(1,),
    pure=True,
)
