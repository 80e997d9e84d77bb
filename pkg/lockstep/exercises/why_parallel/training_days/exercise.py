"""Days of training: arithmetic with units."""

import random

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.numbers import number
from lockstep.cost.training import SECONDS_PER_DAY, training_days, training_flops

Call = tuple[float, float, int, float, float]  # params, tokens, devices, peak, utilisation

MODELS = (  # params, devices, peak
    (124e6, (2, 6), 312e12),
    (1.1e9, (8, 48), 312e12),
    (7e9, (48, 512), 989e12),
    (70e9, (1024, 3072), 989e12),
    (405e9, (6144, 16384), 2250e12),
)
SHARES = (0.28, 0.355, 0.38, 0.435, 0.52)


def cases(ranks: int, seed: int) -> list[Case]:
    return [
        Case(1, seed, settings={"told": "models on many GPUs", "alone": False}),
        Case(1, seed, settings={"told": "models on one GPU", "alone": True}),
        Case(1, seed, settings={"told": "GPUs that reach all of their peak", "alone": False, "trivial": True}),
    ]


def calls(case: Case, rank: int = 0) -> tuple[Call, ...]:
    """Sizes, machines and shares as there are today."""
    draw, rows = random.Random(case.seed), []
    for params, devices, peak in MODELS:
        tokens, number, share = draw.randint(21, 300) * params + 1e9, draw.choice(devices), draw.choice(SHARES)
        rows.append((params, tokens, 1 if case.settings["alone"] else number, peak, 1.0 if case.trivial else share))
    return tuple(rows)


def wanted(case: Case) -> list[float]:
    return [training_days(*call) for call in calls(case)]


def steps(params: float, tokens: float, devices: int, peak: float, utilisation: float) -> str:
    flop, days = training_flops(params, tokens), training_days(params, tokens, devices, peak, utilisation)
    return f"it takes {flop:.4g} FLOP, and {number(SECONDS_PER_DAY * days)} seconds."


EXERCISE = Exercise(
    number=3,
    title="Days of training",
    points=2,
    minutes=15,
    parameters="params, tokens, devices, peak, utilisation",
    reference="lockstep.cost.training:training_days",
    cases=cases,
    inputs=calls,
    wanted=wanted,
    asked="a number of days, a float,",
    steps=steps,
    worlds=(1,),
    pure=True,
)
