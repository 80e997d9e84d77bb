"""The peak of a step: layers of all sizes in all orders, since the worst moment depends on which is where."""

from itertools import product
from random import Random

from lockstep.checks.exercise import Costs, Feedback, Values
from lockstep.checks.numbers import exact
from lockstep.exercises.arithmetic import Calls, arithmetic, whole
from lockstep.exercises.fsdp.peak_in_words import steps

DIVIDE = [[1200, 2400, 600], [600, 600, 600, 600]]
LARGEST = [[9001, 120, 77], [77, 9001, 120], [77, 120, 9001]]  # the first, in the middle, the last
SMALL = [[5, 3, 1, 2, 40], [1], [2, 2]]  # smaller than there are ranks


def tried(rows: list[list[int]], stages: tuple[int, ...], ranks: tuple[int, ...] = (2, 4, 8)) -> Calls:
    return [(sizes[:], K, stage) for sizes, K, stage in product(rows, ranks, stages)]


def drawn(dice: Random) -> Calls:
    """Networks that have nothing plain about them."""
    rows = [[dice.randint(1, 10 ** dice.randint(1, 4)) for _ in range(dice.randint(2, 9))] for _ in range(8)]
    return [(sizes[:], dice.choice((2, 3, 4, 7, 8, 16)), stage) for sizes, stage in product(rows, range(4))]


EXERCISE = arithmetic(
    {
        **{f"stage {stage}": tried(DIVIDE + LARGEST, (stage,)) for stage in range(4)},
        "layers smaller than the number of ranks": tried(SMALL, (1, 2, 3), (3, 16)),
        "networks drawn at random": drawn,
        "one rank": tried(DIVIDE, (0, 1, 2, 3), (1,)),
    }, trivial=("one rank", "stage 0"), number=4, title="Predict the peak", points=4, minutes=20,
    parameters="sizes, ranks, stage", reference="lockstep.cost.sharding:predict_peak",
    values=Values(share=0.75, agrees=exact), costs=Costs(economise=whole),
    feedback=Feedback(answer="a whole number of bytes", steps=steps),
)  # fmt: skip
