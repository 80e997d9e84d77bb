"""Mend two messages that are asked for in the other order than they are sent."""

from torch import Tensor

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case, numbers
from lockstep.checks.exercise import Exercise
from lockstep.exercises.communication.tensors import SUBGROUPS, tensor_case


def cases(ranks: int, seed: int) -> list[Case]:
    """Two tensors of one size, so that they may be mixed up; on 2 ranks also of two sizes and of whole numbers."""
    rows = [(None, 9, 9, "float32"), *([(SUBGROUPS[ranks], 9, 9, "float32")] if ranks in SUBGROUPS else [])]
    rows += [(None, 5, 11, "float64"), (None, 7, 7, "int64")] if ranks == 2 else []
    return [
        tensor_case(ranks, seed + n, group, numel=numel, second=second, dtype=dtype)
        for n, (group, numel, second, dtype) in enumerate(rows)
    ]


def two_tensors(case: Case, rank: int) -> tuple[Tensor, Tensor]:
    settings = {**case.settings, "numel": case.settings["second"]}
    return numbers(case, rank), numbers(Case(case.ranks, case.seed + 500, case.group, settings), rank)


def wanted(case: Case) -> list[tuple[Tensor, Tensor]]:
    """Rank 1 of the group has what rank 0 had; the others have what they had."""
    own = [two_tensors(case, rank) for rank in case.members]
    return [own[0] if seat == 1 else pair for seat, pair in enumerate(own)]


def nbytes(case: Case) -> int:
    """Of both tensors; alone there is nobody to send to."""
    return sum(t.numel() * t.element_size() for t in two_tensors(case, 0)) * min(1, case.size - 1)


EXERCISE = Exercise(
    number=11,
    title="Mend the tags out of order",
    points=2,
    minutes=15,
    parameters="first, second, group=None",
    reference="lockstep.collectives:mend_out_of_order_tags",
    kind="mend",
    core=False,
    cases=cases,
    inputs=two_tensors,
    wanted=wanted,
    asked="(first, second)",
    budgets=(
        Budget("collectives", lambda case: 0, advice="Two messages are enough."),
        Budget("all bytes", nbytes, at_least=1),
        Budget("all messages", lambda case: 2 * min(1, case.size - 1)),
    ),
    seconds=2.5,
)
