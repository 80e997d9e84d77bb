"""Fit alpha and beta: a line through measurements by least squares, of all of them."""

import math
import random
from typing import Any

import torch

from lockstep.checks.case import Case
from lockstep.checks.default_judge import row
from lockstep.checks.exercise import Exercise
from lockstep.checks.observation import Seen

NOISE = {"points on a line": 0.0, "noisy measurements": 0.1}


def lines(case: Case) -> list[tuple[float, float]]:
    """Alpha and beta of two machines: no round numbers, which could be guessed."""
    dice = random.Random(case.seed)
    return [(dice.uniform(40e-6, 60e-6), dice.uniform(14e-11, 24e-11)) for _ in range(2)]


def samples(alpha: float, beta: float, case: Case) -> tuple[list[int], list[float]]:
    """Sizes reach millions. With noise some messages are late, by a share of their time, and the others early, by so
    much that least squares finds the very line, of errors and of relative errors: Newton's method makes them so.
    Medians, other weights and some of the points make another line."""
    noise, drawn = NOISE[str(case)], torch.Generator().manual_seed(case.seed)
    smallest = round(alpha / beta * random.Random(f"size {case.seed}").uniform(0.4, 0.6))  # a draw of its own
    n = smallest * 2.0 ** torch.arange(6, dtype=torch.float64).repeat(4 if noise else 1)
    n = n[torch.randperm(len(n), generator=drawn)] if noise else n
    x, line = n / n.max(), 1 + n * beta / alpha  # times in units of alpha
    late = noise * line * torch.empty_like(n).exponential_(generator=drawn)
    for _ in range(30 if noise else 0):
        t, one = line + late, torch.ones_like(n)
        left = torch.stack([one, x, t**-2, x * t**-2]) @ late  # 0 for both fits
        slope = (line - late) * t**-3
        late = late - torch.linalg.pinv(torch.stack([one, x, slope, x * slope])) @ left
    return [int(size) for size in n], (alpha * (line + late)).tolist()


def alike(seen: Seen) -> Any:
    """Both numbers, rounded. Where rounding drops alpha, beta is another one each time."""
    pairs = [(*row(answer), math.nan, math.nan)[:2] for answer in seen.returned[0]]
    return ["dropped" if 0 < abs(alpha) < 1e-12 else (f"{alpha:.3g}", f"{beta:.4g}") for alpha, beta in pairs]


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
    wanted=lines,
    asked="the pair (alpha, beta)",
    agrees=lambda answer, line: all(math.isclose(a, b, rel_tol=1e-5) for a, b in zip(row(answer), line, strict=True)),
    alike=alike,
)
