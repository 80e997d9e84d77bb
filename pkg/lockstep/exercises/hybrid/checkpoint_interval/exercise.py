"""Steps between two checkpoints: also where the nearest whole number is not the best, and where one step is."""

from functools import partial
from math import sqrt
from random import Random

from lockstep.checks.exercise import Feedback, Values
from lockstep.exercises.arithmetic import Calls, Tried, arithmetic

LLAMA = (13.1, 5.7e12, 2e12, 45_566.0, 16_384, 600.0)


def some(dice: Random, best: tuple[float, ...] = (40.3, 311.8, 2077.4), restart: float = 240.0) -> Calls:
    """With Young's interval of so many steps."""
    return [job(steps, dice, restart) for steps in best]


def job(best: float, dice: Random, restart: float) -> tuple[float, float, float, float, int, float]:
    gpus, gpu_hours = dice.choice((24, 1000, 4096)), float(dice.randint(20_000, 60_000))
    nbytes, bandwidth = dice.randint(100, 9000) * 1e9, dice.randint(50, 2000) * 1e9
    seconds = sqrt(2 * nbytes / bandwidth * 3600 * gpu_hours / gpus)
    return seconds / best, nbytes, bandwidth, gpu_hours, gpus, restart


TRIED: Tried = {
    "a model of 405 billion on 16,384 GPUs": [LLAMA, (*LLAMA[:5], 0.0), (*LLAMA[:4], 512, 600.0)],
    "jobs of all sizes": some,
    "a best interval of some ten thousand steps": partial(some, best=(21_340.7, 43_917.2)),
    "a restart that takes longer than all else": partial(some, restart=5e4),
    "a best interval between two steps": partial(some, best=(1.45, 2.47, 3.48, 2.43)),
    "a step that is longer than the best interval": partial(some, best=(0.3, 0.9, 0.01)),
}


def steps(step: float, nbytes: float, bandwidth: float, gpu_hours: float, gpus: int, restart: float) -> str:
    d, M = nbytes / bandwidth, 3600 * gpu_hours / gpus
    return f"d = {d:.4g} s, M = {M:,.4g} s, so the best t is {(t := sqrt(2 * d * M)):,.5g} s: {t / step:,.6g} steps."


EXERCISE = arithmetic(
    TRIED, number=8, core=False, title="How often to save?", points=2, minutes=15,
    parameters="step, nbytes, bandwidth, gpu_hours, gpus, restart",
    reference="lockstep.planner.checkpoints:checkpoint_interval",
    values=Values(share=1.0), feedback=Feedback(answer="(steps, goodput)", steps=steps),
)  # fmt: skip
