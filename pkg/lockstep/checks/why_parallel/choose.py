"""``workers_needed``: Amdahl's law the other way round, with a whole number as the answer, or none."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.hints import CRASHED, hinted
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.values import told
from lockstep.checks.why_parallel.formulas import number_of, returned

POINTS = 2
Call = tuple[float, float, float]  # hours, p, deadline
Answer = int | float | None

_CASES = {"some": "deadlines that can be met", "none": "deadlines that nobody can meet", "one": "no hurry"}
# A search that ends only after millions of workers is slow, not wrong: so few calls have no answer.
_MANY = {"some": 12, "none": 2, "one": 12}

# Numbers that computers hold exactly: no order of the operations rounds any of them.
_EDGES: Mapping[str, tuple[Call, ...]] = {
    "deadlines that are met exactly": ((8, 0.5, 5), (8, 0.5, 6), (16, 0.75, 8), (32, 0.5, 17)),
    "a deadline that the serial part fills alone": ((8, 0.5, 4),),
    "nothing that can be divided (p = 0)": ((8, 0, 9), (8, 0, 8), (8, 0, 7), (10, 0, 20)),
    "nothing that is serial (p = 1)": ((8, 1, 3), (8, 1, 2), (8, 1, 8), (8, 1, 16)),
}


def exact(hours: float, p: float, deadline: float) -> float:
    """The workers before rounding up: 1 or fewer where there is no hurry, infinite where there is no way."""
    left = deadline - (1 - p) * hours
    return p * hours / left if left > 0 else math.inf


def right(hours: float, p: float, deadline: float) -> int | None:
    if hours <= deadline:
        return 1
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
    ("one-too-many", "This is one worker too many: with one fewer the deadline is met exactly, and that is in time. "
     "Did you write int(x) + 1? It is too many where x is whole; math.ceil is not.",
     lambda *call: math.floor(exact(*call)) + 1 if exact(*call) < math.inf else None),
    ("not-a-whole-number", "You return a fraction of a worker. Round up (math.ceil).", exact),
    ("swapped-fractions", "It looks as if p were the serial fraction. Here p is the part that can be divided.",
     lambda hours, p, deadline: right(hours, 1 - p, deadline)),
)  # fmt: skip


def _cases(ranks: int, seed: int) -> list[Case]:
    drawn = [Case(1, seed, settings={"told": told, "kind": kind}) for kind, told in _CASES.items()]
    return drawn + [Case(1, seed, settings={"told": told, "kind": "edge", "trivial": True}) for told in _EDGES]


def calls(case: Case, rank: int = 0) -> tuple[Call, ...]:
    """Hours, p and deadlines. Of those drawn, the exact number of workers is never near a whole one, where rounding
    would decide."""
    if case.settings["kind"] == "edge":
        return tuple((float(hours), float(p), float(deadline)) for hours, p, deadline in _EDGES[case.settings["told"]])
    draw = random.Random(case.seed)
    rows: list[Call] = []
    while len(rows) < _MANY[case.settings["kind"]]:
        hours, p = float(draw.randint(20, 2000)), draw.choice((0.6, 0.8, 0.9, 0.95, 0.97, 0.99, 0.999))
        share = {"some": draw.uniform(1.08, 6), "none": draw.uniform(0.1, 0.95), "one": math.nan}[case.settings["kind"]]
        deadline = hours * draw.uniform(1.01, 3) if case.settings["kind"] == "one" else share * (1 - p) * hours
        s = exact(hours, p, deadline)
        if case.settings["kind"] != "some" or (deadline < hours and 0.15 < s % 1 < 0.85):
            rows.append((hours, p, deadline))
    return tuple(rows)


def _examine(seen: Seen) -> Fault | None:
    answers = list(zip(calls(seen.case), seen.returned[0], strict=True))
    for call, value in answers:
        if value is not None and number_of(value) is None:
            return Fault("wrong-type", f"{_told(call)} returns {returned(value)}; a whole number, or None, is wanted.")
    off = [(call, value) for call, value in answers if not _same(value, right(*call))]
    if not off:
        return None
    (call, value), wanted = off[0], right(*off[0][0])
    begin = f"With {seen.case}: {_told(call)} gives {told(value)}. "
    if wanted is None:
        serial = (1 - call[1]) * call[0]
        why = f"The serial part alone takes {serial:.4g} hours: no number of workers is enough. Return None."
        return Fault("impossible-not-none", begin + why)
    if wanted == 1:
        return Fault("at-least-one", f"{begin}One worker is done in {call[0]:g} hours: return 1.")
    for id, message, formula in WRONG:
        if all(_same(value, formula(*call)) for call, value in answers):
            return Fault(id, begin + message)
    if value is None:
        serial = (1 - call[1]) * call[0]
        message = (
            f"None says that no number of workers is enough. But the serial part takes {serial:.4g} hours, less than "
            f"the deadline: {wanted:,} workers are in time. Does a search of yours end too early?"
        )
        return Fault("possible-not-none", begin + message)
    return Fault("wrong-values", f"{begin}{_late(value, *call)}")


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


_LONG = (
    "A search that is only long looks the same. When is no number of workers enough? Work that out before you search."
)


def _judge(observation: Observation) -> list[Finding]:
    hangs = ("crashed:Stuck", "crashed:TimeLimit")
    found = hinted(mark(observation, POINTS, _examine), observation)
    return [replace(f, message=f"{f.message}\n{_LONG}") if f.misconception in hangs else _impossible(f) for f in found]


def _impossible(finding: Finding) -> Finding:
    """A crash where the right answer is None."""
    if finding.misconception != CRASHED or finding.case is None or finding.case.settings["kind"] != "none":
        return finding
    return replace(finding, message=f"{finding.message}\nHere no number of workers is enough: return None.")


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
    seconds=10.0,
)
