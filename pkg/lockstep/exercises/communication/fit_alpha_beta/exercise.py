"""Fit alpha and beta: a line through measurements by least squares, of all of them."""

import math
import random
from typing import Any

import torch

from lockstep.checks.case import Case
from lockstep.checks.exercise import Comparison, Exercise, Feedback, Values
from lockstep.checks.observation import Seen
from lockstep.checks.run_faults import row
from lockstep.exercises.communication.fitted_lines import what_it_fits

CLOSE = "sizes close together"
NOISE = {"points on a line": 0.0, "noisy measurements": 0.1, CLOSE: 0.0}
STEP = 401  # bytes, from each of the close sizes to the next
REPEATS = (6, 2, 5, 3, 4, 4)  # of each size, not alike: a mean for each would weigh them otherwise


def lines(case: Case) -> list[tuple[float, float]]:
    """Alpha and beta of two machines: no round numbers, which could be guessed."""
    dice = random.Random(case.seed)
    return [(dice.uniform(40e-6, 60e-6), dice.uniform(14e-11, 24e-11)) for _ in range(2)]


def samples(alpha: float, beta: float, case: Case) -> tuple[list[int], list[float]]:
    """Sizes reach millions. Where they are close together, float32 keeps two digits of how their times differ, and
    float64 ten. With noise some messages are late, by a share of their time, and the others early, by so
    much that least squares finds the very line, of errors and of relative errors: Newton's method makes them so.
    Medians, other weights, a mean for each size and some of the points make another line."""
    noise, drawn = NOISE[str(case)], torch.Generator().manual_seed(case.seed)
    smallest = round(alpha / beta * random.Random(f"size {case.seed}").uniform(0.4, 0.6))  # a draw of its own
    powers = torch.arange(6).repeat_interleave(torch.tensor(REPEATS)) if noise else torch.arange(6)
    n = 32 * smallest + STEP * powers.double() if str(case) == CLOSE else smallest * 2.0 ** powers.double()
    n = n[torch.randperm(len(n), generator=drawn)] if noise else n
    x, line = n / n.max(), 1 + n * beta / alpha  # times in units of alpha
    late = noise * line * torch.empty_like(n).exponential_(generator=drawn)
    for _ in range(30 if noise else 0):
        t, one = line + late, torch.ones_like(n)
        left = torch.stack([one, x, t**-2, x * t**-2]) @ late  # 0 for both fits
        slope = (line - late) * t**-3
        late = late - torch.linalg.pinv(torch.stack([one, x, slope, x * slope])) @ left
    return [int(size) for size in n], (alpha * (line + late)).tolist()


def agrees(answer: Any, line: tuple[float, float]) -> bool:
    return all(math.isclose(a, b, rel_tol=1e-5) for a, b in zip(row(answer), line, strict=True))


def alike(seen: Seen) -> Any:
    """Both numbers, rounded. Where rounding drops alpha, beta is another one each time; and where sizes are close
    together, what rounding makes of both is chance."""
    return [
        _kind(answer, line, str(seen.case)) for answer, line in zip(seen.returned[0], lines(seen.case), strict=True)
    ]


def _kind(answer: Any, line: tuple[float, float], told: str) -> Any:
    alpha, beta = (*row(answer), math.nan, math.nan)[:2]
    if agrees((alpha, beta), line):
        return "right"
    if 0 < abs(alpha) < 1e-12:
        return "dropped"
    return "wrong" if told == CLOSE else (f"{alpha:.3g}", f"{beta:.4g}")


EXERCISE = Exercise(
    number=7,
    core=False,
    title="Fit alpha and beta",
    points=2,
    minutes=15,
    parameters="nbytes, seconds",
    reference="lockstep.cost.fit:fit_alpha_beta",
    pure=True,
    worlds=(1,),
    cases=lambda ranks, seed: [Case(1, seed + n, settings={"told": told}) for n, told in enumerate(NOISE)],
    inputs=lambda case, rank: [samples(*line, case) for line in lines(case)],
    values=Values(wanted=lines, agrees=agrees),
    comparison=Comparison(alike=alike),
    feedback=Feedback(
        answer="the pair (alpha, beta)",
        remark=what_it_fits,
        hints=[
            (
                "LinAlgError: .*[Ss]ingular",
                "Sizes that lie close together are nearly one size in float32: is anything in float32?",
            )
        ],
    ),
)
