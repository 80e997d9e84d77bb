"""Which layers on which stage? Any of the best cuts is right; for a worse one, its most expensive stage is named."""

from random import Random

from lockstep.checks.exercise import Feedback, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.values import told
from lockstep.exercises.arithmetic import Calls, Tried, arithmetic, drawn
from lockstep.pipeline.stage_partition import beside_the_best


def random_layers(layers: int, stages: int, number: int, dice: Random) -> Calls:
    """Layers that are cheap, usual or expensive; some cost nothing."""
    return [([dice.choice((0, 1, 10, 60)) * dice.randint(1, 20) for _ in range(layers)], stages) for _ in range(number)]


def one_is_large(dice: Random) -> Calls:
    """Alone it costs more than the mean: first, in the middle, last. Some stages are cheap whatever is done."""
    rows = [[900, *random_layers(11, 1, 1, dice)[0][0]] for _ in range(3)]
    return [(row[at:] + row[:at], 4) for row, at in zip(rows, (0, 5, 11), strict=True)]


TRIED: Tried = {
    "8 layers": [([1, 1, 1, 1, 8, 2, 2, 2], 3), ([5, 5, 4, 3, 3, 2, 1, 1], 4), ([2, 2, 2, 2, 2, 2, 2, 2], 3)],
    "12 layers": lambda dice: random_layers(12, 4, 6, dice),
    "one large layer": one_is_large,
    "layers that cost nothing": [([0, 0, 0, 4, 0, 3, 3, 0, 0], 3), ([0, 0, 0], 2), ([7, 0, 0, 0], 3)],
    "40 layers": lambda dice: random_layers(40, 7, 3, dice),
    "200 layers on 16 stages": lambda dice: random_layers(200, 16, 1, dice),
    "one stage, or one layer on each": [([3, 1, 2], 1), ([3, 1, 2], 3), ([5], 1)],
}


def examine(seen: Seen) -> Fault | None:
    """The first answer that is no cut, or no best one."""
    for (costs, stages), answer in zip(drawn(TRIED, seen.case), seen.returned[0], strict=True):
        cut = isinstance(answer, list) and len(answer) == stages and all(type(n) is int and n > 0 for n in answer)
        call = f"partition_layers({told_costs(costs)}, {stages})"
        if not cut:
            given = answer if isinstance(answer, list) else told(answer)
            asked = f"a list of {stages} whole numbers, 1 or more, is wanted"
            return Fault("wrong-type", f"{call} returns {given!s:.70}; {asked}.", telling=True)
        if wrong := beside_the_best(costs, answer):
            return Fault("wrong-values", f"With {seen.case}: {call} gives {answer!s:.70}, and {wrong}")
    return None


def told_costs(costs: list[int]) -> str:
    return repr(costs) if len(costs) <= 12 else f"[{', '.join(map(str, costs[:6]))}, ...]"


EXERCISE = arithmetic(
    TRIED,
    trivial={"one stage, or one layer on each"},
    number=5,
    title="Which layers on which stage?",
    points=3,
    minutes=20,
    parameters="costs, stages",
    reference="lockstep.pipeline.stage_partition:partition_layers",
    values=Values(share=1.0, examine=examine, agrees=lambda answer, want: True),
    feedback=Feedback(
        answer="a list of whole numbers",
        hints=[("crashed:Stuck", "With 40 layers and more there are too many cuts to try them all.")],
    ),
)
