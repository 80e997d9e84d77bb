"""Reduce along a tree: the sums travel from the leaves to the root."""

from torch import Tensor

from lockstep.checks.case import Case
from lockstep.checks.exercise import Contributions, Values
from lockstep.dye import only_at, total
from lockstep.exercises.communication.broadcast_trees import root_of, rooted, seat_of_root, tree
from lockstep.exercises.communication.tensors import sums


def wanted(case: Case) -> list[Tensor | None]:
    """The sum, at the root; what the others hold does not matter."""
    return [right if rank == root_of(case) else None for rank, right in zip(case.members, sums(case), strict=True)]


EXERCISE = tree(
    number=6,
    core=False,
    title="Reduce along a tree",
    points=3,
    minutes=20,
    parameters="tensor, dst, group=None",
    reference="lockstep.collectives:tree_reduce",
    cases=rooted("dst"),
    values=Values(wanted=wanted, may_change=("tensor.values", "tensor.shared")),
    contributions=Contributions(wanted=lambda dyed, case: only_at(total(dyed), seat_of_root(case)), root="dst"),
)
