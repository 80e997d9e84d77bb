"""``amdahl`` and ``gustafson``: two formulas of one line. The picture sets the learner's curve on the right one."""

from __future__ import annotations

import random
from collections.abc import Callable

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Finding
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.why_parallel.formulas import Asked, Formula, Wrong, number, number_of

POINTS = 1
WORKERS = (2, 3, 4, 8, 16, 64, 100, 1024)
ENDS = ((0.0, 8), (1.0, 8), (0.5, 1), (0.9, 1))  # nothing to divide, nothing serial, one worker


def right_amdahl(p: float, s: float) -> float:
    return 1 / ((1 - p) + p / s)


def right_gustafson(p: float, s: float) -> float:
    return (1 - p) + p * s


_SWAPPED = Wrong(
    "swapped-fractions",
    "It looks as if p were the serial fraction. Here p is the part that can be divided among the workers.",
    lambda p, s: right_amdahl(1 - p, s),
)
_LINEAR = Wrong(
    "linear",
    "You divide all of the work by s. The serial part, 1 - p, takes as long as before, however many workers there are.",
    lambda p, s: s,
)

AMDAHL_WRONG = (
    _SWAPPED,
    Wrong("gustafson", "This is Gustafson's law, in which the work grows with the workers. Amdahl's work stays the "
          "same: what is the time of s workers, if one worker takes 1?", right_gustafson),
    Wrong("forgets-serial-part", "It looks as if only the parallel part took time: p/s. The serial part, 1 - p, comes "
          "on top of it.", lambda p, s: s / p),
    Wrong("time-not-speedup", "This is the time of s workers, if one worker takes 1. The speedup is the time of one "
          "worker divided by it.", lambda p, s: 1 / right_amdahl(p, s)),
    Wrong("limit-only", "This is the limit for endlessly many workers, 1 / (1 - p). With s workers the parallel part "
          "still takes p/s.", lambda p, s: 1 / (1 - p)),
    Wrong("efficiency", "This is the speedup of each worker, which is called efficiency. Do not divide by s.",
          lambda p, s: right_amdahl(p, s) / s),
    _LINEAR,
    Wrong("percent", "It looks as if p were a percentage. It is a share from 0 to 1: 0.95 for 95 %.",
          lambda p, s: right_amdahl(p / 100, s)),
    Wrong("parameters-exchanged", "Your parameters are in another order: it is called as amdahl(p, s).",
          lambda p, s: right_amdahl(s, p)),
    Wrong("time-saved", "This is the share of the time that is saved. The speedup is the time of one worker divided by "
          "the time of s workers.", lambda p, s: 1 - 1 / right_amdahl(p, s)),
    Wrong("gain-not-speedup", "This is 1 less than the speedup: 2 times as fast is a speedup of 2, not of 1.",
          lambda p, s: right_amdahl(p, s) - 1),
    Wrong("floor-division", "// drops what stands behind the point: p // s is 0. Write /.",
          lambda p, s: 1 // ((1 - p) + p // s)),
    Wrong("serial-part-grows", "Your serial part is multiplied by s. It takes 1 - p, however many workers there are.",
          lambda p, s: 1 / ((1 - p) * s + p / s)),
    Wrong("brackets", "1 / (1 - p) + p/s is not 1 / ((1 - p) + p/s): put brackets around the whole time.",
          lambda p, s: 1 / (1 - p) + p / s),
)  # fmt: skip

GUSTAFSON_WRONG = (
    Wrong("swapped-fractions", "It looks as if p were the serial fraction. Here p is the share of the time in which "
          "all workers are busy.", lambda p, s: right_gustafson(1 - p, s)),
    Wrong("amdahl", "This is Amdahl's law, in which the work stays the same. Here it grows: in the share p of the time "
          "s workers do s times as much as one. How long would one worker need for all of it?", right_amdahl),
    Wrong("forgets-serial-part", "It looks as if only the parallel part were work: p·s. The serial part, 1 - p, was "
          "done as well.", lambda p, s: p * s),
    Wrong("serial-part-whole", "Your serial part takes all of the time: 1 + p·s. It takes the share 1 - p.",
          lambda p, s: 1 + p * s),
    Wrong("serial-part-grows", "The serial part does not grow with the workers: only p is multiplied by s.",
          lambda p, s: s),
    Wrong("parameters-exchanged", "Your parameters are in another order: it is called as gustafson(p, s).",
          lambda p, s: right_gustafson(s, p)),
    Wrong("power", "** is a power. The share p counts s times: p * s.", lambda p, s: (1 - p) + p**s),
    Wrong("gain-not-speedup", "This is 1 less than the speedup: the time of one worker is 1, and counts.",
          lambda p, s: right_gustafson(p, s) - 1),
    Wrong("efficiency", "This is the speedup of each worker, which is called efficiency. Do not divide by s.",
          lambda p, s: right_gustafson(p, s) / s),
    Wrong("time-not-speedup", "This is below 1: you return a time. The speedup is what one worker would need, if s "
          "workers need 1.", lambda p, s: 1 / right_gustafson(p, s)),
    Wrong("percent", "It looks as if p were a percentage. It is a share from 0 to 1: 0.95 for 95 %.",
          lambda p, s: right_gustafson(p / 100, s)),
)  # fmt: skip


def _cases(ranks: int, seed: int) -> list[Case]:
    p = random.Random(seed).choice((0.85, 0.88, 0.92, 0.94, 0.96, 0.98))
    return [
        Case(1, seed, settings={"told": "nothing serial, nothing parallel or one worker", "trivial": True}),
        Case(1, seed, settings={"told": f"p = {p}", "p": p}),
    ]


def calls(case: Case, rank: int = 0) -> tuple[tuple[float, int], ...]:
    """The ends of the law, or a curve of one p."""
    return ENDS if case.trivial else tuple((case.settings["p"], s) for s in WORKERS)


def _amdahl_steps(p: float, s: int) -> str:
    parts = f"the serial part takes {1 - p:.4g}, the parallel part {p / s:.4g} where one worker takes {p:g}"
    return f"if one worker takes 1 in all, {parts}."


def _gustafson_steps(p: float, s: int) -> str:
    return (
        f"for {1 - p:.4g} of the time one worker is at it, and for {p:g} of it {s} are, who do {p * s:.4g} meanwhile."
    )


def _asked(name: str, formula: Formula, wrong: tuple[Wrong, ...], steps: Callable[..., str]) -> Asked:
    return Asked(formula, lambda p, s: f"{name}({p:g}, {s})", number, "the speedup, a float,", wrong, steps)


def _judge(asked: Asked) -> Callable[[Observation], list[Finding]]:
    def judge(observation: Observation) -> list[Finding]:
        return asked.judge(observation, POINTS, calls)

    return judge


def _picture(seen: Seen) -> str:
    """The learner's speedups as points on the figure of both laws."""
    from lockstep.show.amdahl_model import Speedups
    from lockstep.show.amdahl_svg import draw

    answers = [number_of(a) for a in seen.returned[0]] if seen.returned else []
    numbers = [a for a in answers if a is not None and 0 < a < 1e6]
    if seen.case.trivial or len(numbers) < len(WORKERS):
        return ""
    points = tuple(zip(map(float, WORKERS), numbers, strict=True))
    return draw(Speedups(seen.case.settings["p"], 16, points, points_are="your function"))


AMDAHL = Exercise(
    id="why_parallel.amdahl",
    title="Amdahl's law",
    points=POINTS,
    minutes=10,
    parameters="p, s",
    cases=_cases,
    inputs=calls,
    judge=_judge(_asked("amdahl", right_amdahl, AMDAHL_WRONG, _amdahl_steps)),
    reference="lockstep.cost.speedup:amdahl",
    worlds=(1,),
    pure=True,
    picture=_picture,
)

GUSTAFSON = Exercise(
    id="why_parallel.gustafson",
    title="Gustafson's law",
    points=POINTS,
    minutes=10,
    parameters="p, s",
    cases=_cases,
    inputs=calls,
    judge=_judge(_asked("gustafson", right_gustafson, GUSTAFSON_WRONG, _gustafson_steps)),
    reference="lockstep.cost.speedup:gustafson",
    worlds=(1,),
    pure=True,
    picture=_picture,
)
