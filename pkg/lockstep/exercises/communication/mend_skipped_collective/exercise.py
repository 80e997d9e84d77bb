"""Mend a collective that some ranks skip: who has nothing to give takes part with zeros."""

import torch
from torch import Tensor

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case, numbers
from lockstep.checks.exercise import Costs, Values
from lockstep.checks.values import total
from lockstep.exercises.communication.tensors import collective, one


def signed(case: Case, rank: int) -> tuple[Tensor]:
    """Numbers with a sum just above 0, just below, or exactly 0, by turns; of few elements nobody's is above."""
    tensor = numbers(case, rank)
    sign = (1, -1, 0)[(rank + case.seed) % 3] if case.settings["numel"] >= case.size else -1
    tensor.view(-1)[:1] += sign * (0.25 if tensor.is_floating_point() else 1) - tensor.sum()
    return (tensor,)


def wanted(case: Case) -> list[Tensor]:
    own = [signed(case, rank)[0] for rank in case.members]
    return [total([t if t.sum() > 0 else torch.zeros_like(t) for t in own])] * case.size


EXERCISE = collective(
    number=11,
    kind="mend",
    core=False,
    title="Mend the skipped collective",
    points=2,
    minutes=15,
    reference="lockstep.collectives:mend_skipped_collective",
    inputs=signed,
    values=Values(wanted=wanted),
    costs=Costs(budgets=(Budget("transfers", one, at_most=None, at_least=1),)),
)
