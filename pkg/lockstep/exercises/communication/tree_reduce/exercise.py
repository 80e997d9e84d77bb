"""Reduce along a tree: the sums travel from the leaves to the root."""

from torch import Tensor

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.dye import only_at, total
from lockstep.exercises.communication.tensors import BUILT_BY_HAND, sums
from lockstep.exercises.communication.trees import BUDGETS, root_of, rooted_cases, seat_of_root, tensor_and_root


def wanted(case: Case) -> list[Tensor | None]:
    """The sum, at the root; what the others hold does not matter."""
    return [right if rank == root_of(case) else None for rank, right in zip(case.members, sums(case), strict=True)]


EXERCISE = Exercise(
    number=6,
    core=False,
    title="Reduce along a tree",
    points=3,
    minutes=20,
    parameters="tensor, dst, group=None",
    reference="lockstep.collectives:tree_reduce",
    cases=lambda ranks, seed: rooted_cases(ranks, seed, "dst"),
    inputs=tensor_and_root,
    wanted=wanted,
    by_hand=BUILT_BY_HAND,
    of="a tree",
    budgets=BUDGETS,
    dye=lambda dyed, case: only_at(total(dyed), seat_of_root(case)),
    symmetry="root",
    root="dst",
    seconds=2.5,
)
