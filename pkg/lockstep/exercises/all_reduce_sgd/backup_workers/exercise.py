"""How many backup workers? Counted from what each machine took in each step."""

from lockstep.checks.exercise import Feedback, Values
from lockstep.checks.numbers import exact
from lockstep.data_parallel.stragglers import gradients_per_second
from lockstep.exercises.all_reduce_sgd.drawn_seconds import SIZES, late, one_slow
from lockstep.exercises.arithmetic import arithmetic


def steps(seconds: list[list[float]]) -> str:
    rates = [gradients_per_second(seconds, b) for b in range(len(seconds[0]))]
    return ", ".join(f"b = {b}: {rate:.4g} gradients/s" for b, rate in enumerate(rates[:6])) + "."


EXERCISE = arithmetic(
    {
        "machines that are late now and then": late,
        "machines that are late often": lambda dice: late(dice, often=0.3),
        "one slow machine": one_slow,
        "machines that are never late": lambda dice: late(dice, SIZES[:2], often=0.0),
        "one fast machine": [([[9.0, 1.0, 8.0], [10.0, 0.5, 9.0]],)],
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
    values=Values(agrees=exact, share=1.0),
    feedback=Feedback(answer="a whole number, from 0 to N - 1,", steps=steps),
)
