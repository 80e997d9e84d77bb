"""All groups of any grid: some axes, fastest first, one of which may be left open, and sizes that do not fit."""

from math import prod
from random import Random

from lockstep.checks.exercise import Feedback, Values
from lockstep.checks.judge import Fault
from lockstep.checks.likeness import shown
from lockstep.checks.observation import Seen
from lockstep.checks.values import told
from lockstep.exercises.arithmetic import Calls, Tried, arithmetic, drawn
from lockstep.hybrid.mesh import Groups, make_grid


def grids(axes: int, number: int, dice: Random, left_open: bool = False) -> Calls:
    """No two neighbours have the same size, so that no order but one is right. Each axis is left open in its turn."""
    calls = []
    for n in range(number):
        sizes: list[int | None] = list(dice.sample((2, 3, 4, 5), axes))
        ranks = prod(size for size in sizes if size)
        sizes[n % axes] = None if left_open else sizes[n % axes]
        calls.append((ranks, sizes))
    return calls


TRIED: Tried = {
    "two axes": lambda dice: [(8, [2, 4]), *grids(2, 2, dice)],
    "three axes": lambda dice: [(8, [2, 2, 2]), *grids(3, 2, dice)],
    "four axes": lambda dice: [(24, [2, 3, 2, 2]), *grids(4, 1, dice)],
    "a size of None": lambda dice: [*grids(2, 2, dice, left_open=True), *grids(3, 3, dice, left_open=True)],
    "axes of size 1": [(6, [1, 3, 2]), (6, [2, 1, 3]), (4, [4, 1]), (6, [3, None, 2]), (6, [None, 2, 3])],
    "one axis": [(5, [5]), (5, [None]), (1, [1]), (1, [None, 1])],
    "a product that isn't `ranks`": [(8, [2, 2]), (8, [2, 2, 4]), (12, [5, 2]), (6, [4]), (8, [4, 3])],
    "a rest that isn't whole": [(8, [3, None]), (12, [2, None, 4]), (7, [2, None, 2])],
    "nothing left": [(8, [None, 16]), (3, [2, None, 2])],
    "192 ranks": [(192, [8, 2, 12]), (192, [8, None, 12])],
}  # fmt: skip


def examine(seen: Seen) -> Fault | None:
    """The first answer that is wrong, by the first group that is. Each right one earns its part."""
    rows = list(zip(drawn(TRIED, seen.case), seen.returned[0], strict=True))
    off = [(call, answer) for call, answer in rows if answer != make_grid(*call)]
    if not off:
        return None
    (call, answer), wanted = off[0], make_grid(*off[0][0])
    why = _parting(answer, wanted) if wanted else f"the sizes don't fit: None is wanted, and it returns {told(answer)}."
    many = f"{len(off)} of {len(rows)} answers {'is' if len(off) == 1 else 'are'} wrong."
    message = f"With {seen.case}: make_grid({call[0]}, {call[1]}): {why} {many}"
    return Fault("wrong-values", message, earned=1 - len(off) / len(rows))


def _parting(answer: object, wanted: list[Groups]) -> str:
    if not isinstance(answer, list):
        return f"the sizes fit, and it returns {told(answer)}; a list with an entry for each axis is wanted."
    if len(answer) != len(wanted):
        return f"there are {len(wanted)} axes, and {len(answer)} entries in your answer."
    axis = next(n for n, (held, groups) in enumerate(zip(answer, wanted, strict=True)) if held != groups)
    held, groups = answer[axis], wanted[axis]
    if not isinstance(held, list) or len(held) != len(groups):
        there = len(held) if isinstance(held, list) else "no list of them"
        has = f"{len(groups)} groups of {len(groups[0])}, the first one {groups[0]}"
        return f"axis {axis} has {has}; your answer has {there}."
    if sorted(map(str, held)) == sorted(map(str, groups)):
        return f"on axis {axis} all groups are right, but not in their order: that with the lowest rank comes first."
    n = next(n for n, pair in enumerate(zip(held, groups, strict=True)) if pair[0] != pair[1])
    return f"on axis {axis}, group {n} is {groups[n]}; in your answer it is {shown(held[n])}."


EXERCISE = arithmetic(
    TRIED,
    trivial=("one axis",),
    number=1,
    title="Who shares a group?",
    points=2,
    minutes=15,
    parameters="ranks, sizes",
    reference="lockstep.hybrid.mesh:make_grid",
    values=Values(share=1.0, examine=examine),
    feedback=Feedback(
        none_means="that the sizes don't fit",
        hints=[
            (
                "^ZeroDivisionError",
                "Where the product of the other sizes is more than `ranks`, nothing is left for None.",
            ),
            ("^ValueError", "Where the sizes don't fit, return None."),
        ],
    ),
)
