"""``fit_parallel_fraction``: p of Amdahl's law from measured times."""

from __future__ import annotations

import math
import random

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.hints import Hint, hinted
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.why_parallel.formulas import apart, number_of, returned
from lockstep.checks.why_parallel.wrong_fits import against_shares, recognised

POINTS = 3
NEAR = 0.06  # how far 1 - p may be off where there is noise, as a share of itself
RUNS = 4  # of each number of workers, where there is noise
KINDS = {
    "exact": ("times that follow Amdahl's law exactly", (1, 2, 4, 8, 16)),
    "alone": ("exact times, none of them of 1 worker", (2, 4, 8, 16)),
    "noise": ("noisy times, four runs of each, in any order", (1, 2, 4, 8, 16)),
    "crowded": ("noisy times of 8 to 12 workers, some of 9 longer than some of 8", (8, 9, 10, 12)),
}


def _cases(ranks: int, seed: int) -> list[Case]:
    """Each case has a p of its own."""
    draw = random.Random(seed)
    fractions, seconds = draw.sample((0.82, 0.845, 0.87, 0.89, 0.915, 0.93), len(KINDS)), draw.choice((7.0, 9.0, 12.0))
    drawn = zip(KINDS.items(), fractions, strict=True)
    return [Case(1, seed, settings={"told": t, "kind": k, "p": p, "seconds": seconds}) for (k, (t, _)), p in drawn]


def samples(case: Case) -> tuple[list[int], list[float]]:
    """Workers and times. The errors of each number of workers add up to nothing, so that all runs together tell p.
    One run of few workers is far too slow and the others a little too fast; of many it is the other way round. So one
    run of each, be it the first, the best or the median, tells another p."""
    p, seconds, kind = (case.settings[k] for k in ("p", "seconds", "kind"))
    draw, workers = random.Random(case.seed), KINDS[kind][1]
    if kind in ("exact", "alone"):
        return list(workers), [seconds * ((1 - p) + p / s) for s in workers]
    far, few = draw.uniform(0.12, 0.14), workers[: len(workers) // 2]
    rows = []
    for s in workers:
        error = far if s in few else -far
        rows += [(s, seconds * ((1 - p) + p / s) * (1 + e)) for e in (error, *[-error / (RUNS - 1)] * (RUNS - 1))]
    first, last = rows.pop(0), rows.pop(-RUNS)  # far off, in opposite ways
    draw.shuffle(rows)
    rows = [first, *rows, last]
    return [s for s, _ in rows], [t for _, t in rows]


def _calls(case: Case, rank: int) -> tuple[tuple[list[int], list[float]], ...]:
    return (samples(case),)


_CONSTANT = "You return the same p for every program. It has to come from workers and times."


def _examine(seen: Seen, constant: bool = False) -> Fault | None:
    answer, case = number_of(seen.returned[0][0]), seen.case
    if answer is None:
        told = returned(seen.returned[0][0])
        return Fault("wrong-type", f"With {case}: it returns {told}; p is wanted, a float.")
    p, (s, t) = case.settings["p"], samples(case)
    tolerance = NEAR * (1 - p) if case.settings["kind"] in ("noise", "crowded") else 1e-6
    if math.isclose(answer, p, rel_tol=0, abs_tol=tolerance):
        return None
    begin = "With {}: you return {}; the times were made with p = {}. ".format(case, *apart(answer, p))
    if constant:
        return Fault("constant", begin + _CONSTANT)
    known = recognised(answer, s, t)
    if known:
        return Fault(known[0], begin + known[1])
    return Fault(
        "wrong-values", f"{begin}By Amdahl, t = serial + parallel/s: fit a line through t against 1/s, over all runs."
    )


def _judge(observation: Observation) -> list[Finding]:
    answers = [number_of(seen.returned[0][0]) for seen in observation if not seen.failure]
    constant = len(answers) > 1 and len(set(answers)) == 1 and answers[0] is not None and math.isfinite(answers[0])
    return hinted(mark(observation, POINTS, lambda seen: _examine(seen, constant)), observation, HINTS)


HINTS: tuple[Hint, ...] = (
    (r"'(int|float|list)' and '(list|int|float)'|negative integer powers|multiply sequence", "Python's lists do not "
     "calculate: np.array(workers, dtype=float) makes an array of numbers, and 1 / array takes each of them."),
    (r"too many values to unpack[^\n]*\n(.|\n)*lstsq|lstsq(.|\n)*too many values", "np.linalg.lstsq gives back four "
     "things, of which the solution is the first: (a, b), *rest = np.linalg.lstsq(...)."),
)  # fmt: skip


def _picture(seen: Seen) -> str:
    """The measured points, on the curve of the p that the learner found."""
    from lockstep.show.amdahl_model import Speedups
    from lockstep.show.amdahl_svg import draw

    answer = number_of(seen.returned[0][0]) if seen.returned else None
    if answer is None or not 0 <= answer <= 1:
        return ""
    s, t = samples(seen.case)
    serial, parallel = against_shares(s, t)
    points = tuple((float(a), (serial + parallel) / b) for a, b in zip(s, t, strict=True))
    return draw(Speedups(answer, 16, points, points_are="the runs", curve_is="your p"))


FIT = Exercise(
    id="why_parallel.fit_parallel_fraction",
    title="Read p off measured times",
    points=POINTS,
    minutes=20,
    parameters="workers, times",
    cases=_cases,
    inputs=_calls,
    judge=_judge,
    reference="lockstep.cost.speedup:fit_parallel_fraction",
    worlds=(1,),
    pure=True,
    seconds=10.0,  # importing sklearn, which has a line of its own, can take five of them on a busy machine
    picture=_picture,
)
