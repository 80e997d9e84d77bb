"""Fit alpha and beta: a line through measurements by least squares, of all of them."""

import math
import random
from typing import Any

import torch

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.observation import Seen
from lockstep.checks.standard import row

NEAR = 1e-5  # relative; float32 does it, where the formula is a good one


def cases(ranks: int, seed: int) -> list[Case]:
    """Two machines each, exactly measured and with noise; sizes reach millions."""
    draw = random.Random(seed)
    alphas, betas = draw.sample(range(40, 61), 4), draw.sample(range(14, 25), 4)
    lines = [[a * 1e-6, b * 1e-11] for a, b in zip(alphas, betas, strict=True)]
    return [
        Case(1, seed, settings={"told": "points on a line", "lines": lines[:2], "noise": 0.0}),
        Case(1, seed + 1, settings={"told": "noisy measurements", "lines": lines[2:], "noise": 0.1}),
    ]


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    return tuple(samples(a, b, case.settings["noise"], case.seed) for a, b in case.settings["lines"])


def samples(alpha: float, beta: float, noise: float, seed: int) -> tuple[list[int], list[float]]:
    """With noise some messages are late, by a share of their time, and the others early, by so much that least squares
    finds the very line, of errors and of relative errors: Newton's method makes them so. Medians, other weights and
    some of the points make another line."""
    drawn = torch.Generator().manual_seed(seed)
    n = round(alpha / beta / 2) * 2.0 ** torch.arange(6, dtype=torch.float64).repeat(4 if noise else 1)
    n = n[torch.randperm(len(n), generator=drawn)] if noise else n
    x, line = n / n.max(), 1 + n * beta / alpha  # times in units of alpha
    late = noise * line * torch.empty_like(n).exponential_(generator=drawn)
    for _ in range(30 if noise else 0):
        t, one = line + late, torch.ones_like(n)
        left = torch.stack([one, x, t**-2, x * t**-2]) @ late  # 0 for both fits
        slope = (line - late) * t**-3
        late = late - torch.linalg.pinv(torch.stack([one, x, slope, x * slope])) @ left
    return [int(size) for size in n], (alpha * (line + late)).tolist()


def close(answer: Any, want: Any) -> bool:
    """Two numbers, each near the right one."""
    return all(math.isclose(a, w, rel_tol=NEAR) for a, w in zip(row(answer), want, strict=True))


def alike(seen: Seen) -> Any:
    """The pairs, rounded: alpha beside the shortest time, and whether it is exactly 0. Where it is dropped, beta is
    what rounding makes, another one each time."""
    pairs: list[Any] = []
    for (_, seconds), answer in zip(inputs(seen.case, 0), seen.returned[0], strict=True):
        alpha, beta = row(answer) if len(row(answer)) == 2 else (math.nan, math.nan)
        dropped = 0 < abs(alpha) < 1e-8 * min(seconds)
        pairs.append("dropped" if dropped else (alpha == 0, f"{alpha / min(seconds):.3f}", f"{beta:.4g}"))
    return pairs


EXERCISE = Exercise(
    number=7,
    core=False,
    title="Fit alpha and beta",
    points=2,
    minutes=15,
    parameters="nbytes, seconds",
    reference="lockstep.cost.fit:fit_alpha_beta",
    worlds=(1,),
    pure=True,
    cases=cases,
    inputs=inputs,
    wanted=lambda case: [tuple(line) for line in case.settings["lines"]],
    asked="the pair (alpha, beta)",
    agrees=close,
    alike=alike,
)
