"""Broadcast along a tree: who has the tensor helps to spread it."""

from torch import Tensor

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.dye import tensor_of
from lockstep.exercises.communication.tensors import BUILT_BY_HAND, members_tensors
from lockstep.exercises.communication.trees import BUDGETS, rooted_cases, seat_of_root, tensor_and_root


def wanted(case: Case) -> list[Tensor]:
    """The root's tensor, for each member."""
    return [members_tensors(case)[seat_of_root(case)]] * case.size


EXERCISE = Exercise(
    number=2,
    title="Broadcast along a tree",
    points=3,
    minutes=25,
    parameters="tensor, src, group=None",
    reference="lockstep.collectives:tree_broadcast",
    cases=lambda ranks, seed: rooted_cases(ranks, seed, "src"),
    inputs=tensor_and_root,
    wanted=wanted,
    by_hand=BUILT_BY_HAND,
    of="a tree",
    budgets=BUDGETS,
    dye=lambda dyed, case: tensor_of(dyed, seat_of_root(case)),
    symmetry="root",
    root="src",
    seconds=2.5,
)
