"""Days of training: arithmetic with units."""

from random import Random
from typing import Any

from lockstep.checks.exercise import Feedback
from lockstep.checks.numbers import number
from lockstep.cost.training import SECONDS_PER_DAY, training_days, training_flops
from lockstep.exercises.arithmetic import Calls, arithmetic

MODELS = (  # params, devices, peak
    (124e6, (2, 6), 312e12),
    (1.1e9, (12, 44), 312e12),
    (7e9, (52, 500), 989e12),
    (70e9, (1024, 3072), 989e12),
    (405e9, (6144, 16384), 2250e12),
)
SHARES, FULL = (0.28, 0.355, 0.38, 0.435, 0.52), "GPUs that reach all of their peak"
ANSWER = "a number of days, a float,"


def models(dice: Random, alone: bool = False, full: bool = False) -> Calls:
    """Sizes, machines and shares as there are today."""
    return [
        (params, dice.randint(21, 300) * params + 1e9, 1 if alone else dice.choice(devices), peak,
         1.0 if full else dice.choice(SHARES))
        for params, devices, peak in MODELS
    ]  # fmt: skip


def steps(params: float, tokens: float, *machine: Any) -> str:
    seconds = SECONDS_PER_DAY * training_days(params, tokens, *machine)
    return f"it takes {training_flops(params, tokens):.4g} FLOP, and {number(seconds)} seconds."


EXERCISE = arithmetic(
    {
        "models on many GPUs": models,
        "models on one GPU": lambda dice: models(dice, alone=True),
        "few tokens on many GPUs": [(7e9, 100_000.0, 3072, 989e12, 0.38), (1.1e9, 5_000.0, 768, 312e12, 0.435)],
        "whole numbers": [(405 * 10**9, 156 * 10**11, 16_384, 989e12, 0.435), (11 * 10**11, 4 * 10**13, 9, 1e15, 0.5)],
        FULL: lambda dice: models(dice, full=True),
    }, trivial={FULL}, number=3, title="Days of training", points=2, minutes=15, feedback=Feedback(ANSWER, steps=steps),
    parameters="params, tokens, devices, peak, utilisation", reference="lockstep.cost.training:training_days",
)  # fmt: skip
