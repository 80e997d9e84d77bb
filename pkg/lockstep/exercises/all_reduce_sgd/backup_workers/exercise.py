"""How many backup workers? Counted from what each machine took in each step."""

from random import Random

from lockstep.checks.numbers import exact
from lockstep.data_parallel.stragglers import gradients_per_second
from lockstep.exercises.arithmetic import Calls, arithmetic

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


def steps(seconds: list[list[float]]) -> str:
    rates = [gradients_per_second(seconds, b) for b in range(len(seconds[0]))]
    return ", ".join(f"b = {b}: {rate:.4g} gradients/s" for b, rate in enumerate(rates[:6])) + "."


EXERCISE = arithmetic(
    {
        "machines that are late now and then": late,
        "machines that are late often": lambda dice: late(dice, often=0.3),
        "one slow machine": one_slow,
        "machines that are never late": lambda dice: late(dice, SIZES[:2], often=0.0),
        "equally good numbers": [([[1.0, 1.0, 2.0, 2.0], [2.0, 1.0, 2.0, 1.0]],), ([[4.0, 1.0, 2.0, 3.0]],)],
        "one machine": [([[2.0], [3.0]],)],
    },
    trivial=("one machine",),
    number=9,
    core=False,
    title="Backup workers",
    points=2,
    minutes=15,
    parameters="seconds",
    reference="lockstep.data_parallel.stragglers:backup_workers",
    agrees=exact,
    asked="a whole number, from 0 to N - 1,",
    steps=steps,
    values=1.0,
)
