"""The peak of a step: layers of all sizes in all orders, since the worst moment depends on which is where."""

from itertools import product
from random import Random

from lockstep.checks.numbers import exact
from lockstep.cost.peak import FLOAT32, changes, held
from lockstep.exercises.arithmetic import Calls, arithmetic, whole

DIVIDE = [[1200, 2400, 600], [600, 600, 600, 600]]
LARGEST = [[9001, 120, 77], [77, 9001, 120], [77, 120, 9001]]  # the first, in the middle, the last
SMALL = [[5, 3, 1, 2, 40], [1], [2, 2]]  # smaller than there are ranks


def tried(rows: list[list[int]], stages: tuple[int, ...], ranks: tuple[int, ...] = (2, 4, 8)) -> Calls:
    return [(sizes[:], K, stage) for sizes, K, stage in product(rows, ranks, stages)]


def drawn(dice: Random) -> Calls:
    """Networks that have nothing plain about them."""
    rows = [[dice.randint(1, 10 ** dice.randint(1, 4)) for _ in range(dice.randint(2, 9))] for _ in range(8)]
    return [(sizes[:], dice.choice((2, 3, 4, 7, 8, 16)), stage) for sizes, stage in product(rows, range(4))]


def steps(sizes: list[int], ranks: int, stage: int) -> str:
    """What comes and goes, as far as it fits into a line."""
    moved = [f"{change:+,}" for change in changes(sizes, ranks, stage)]
    more = " ..." if len(moved) > 9 else ""
    return (
        f"{held(sizes, ranks, stage):,} numbers all the time; then {' '.join(moved[:9])}{more}; {FLOAT32} bytes each."
    )


EXERCISE = arithmetic(
    {
        **{f"stage {stage}": tried(DIVIDE + LARGEST, (stage,)) for stage in range(4)},
        "layers smaller than the number of ranks": tried(SMALL, (1, 2, 3), (3, 16)),
        "networks drawn at random": drawn,
        "one rank": tried(DIVIDE, (0, 1, 2, 3), (1,)),
    },
    trivial=("one rank", "stage 0"),
    number=3, title="Predict the peak", points=4, minutes=20, values=0.75, parameters="sizes, ranks, stage",
    reference="lockstep.cost.peak:predict_peak", agrees=exact, asked="a whole number of bytes", steps=steps,
    economise=whole,
)  # fmt: skip
