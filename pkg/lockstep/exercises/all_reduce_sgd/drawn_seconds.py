"""What each machine takes in each step, drawn: for the check of ``backup_workers``."""

from __future__ import annotations

from random import Random

from lockstep.exercises.arithmetic import Calls

SIZES = ((5, 12), (8, 20), (16, 20), (31, 30))  # machines, steps


def late(dice: Random, sizes: tuple[tuple[int, int], ...] = SIZES, often: float = 0.08) -> Calls:
    """Now one is late, now another one; and some steps are long for all."""
    return [(step_by_step(dice, machines, steps, often),) for machines, steps in sizes]


def step_by_step(dice: Random, machines: int, steps: int, often: float) -> list[list[float]]:
    rows = []
    for _ in range(steps):
        usual = dice.choice((0.5, 1.0, 4.0))
        rows.append([usual * dice.uniform(0.9, 1.1) * (1 + 4 * (dice.random() < often)) for _ in range(machines)])
    return rows


def one_slow(dice: Random) -> Calls:
    """Always the same machine, neither the first nor the last."""
    slow = dice.randint(1, 5)
    return [([[dice.uniform(0.9, 1.1) * (3 if m == slow else 1) for m in range(8)] for _ in range(10)],)]
