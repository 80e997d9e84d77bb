"""Broadcast along a tree: who has the tensor helps to spread it."""

from lockstep.checks.case import numbers
from lockstep.checks.exercise import Contributions, Values
from lockstep.dye import tensor_of
from lockstep.exercises.communication.broadcast_trees import root_of, rooted, seat_of_root, tree

EXERCISE = tree(
    number=2,
    title="Broadcast along a tree",
    points=3,
    minutes=25,
    parameters="tensor, src, group=None",
    reference="lockstep.collectives:tree_broadcast",
    cases=rooted("src"),
    values=Values(
        wanted=lambda case: [numbers(case, root_of(case))] * case.size, may_change=("tensor.values", "tensor.shared")
    ),
    contributions=Contributions(wanted=lambda dyed, case: tensor_of(dyed, seat_of_root(case)), root="src"),
)
