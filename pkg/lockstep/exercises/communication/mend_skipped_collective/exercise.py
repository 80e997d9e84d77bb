"""Mend a collective that some ranks skip: who has nothing to give takes part with zeros."""

import random

import torch
from torch import Tensor

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case, numbers
from lockstep.checks.exercise import Exercise
from lockstep.checks.values import total
from lockstep.exercises.communication.tensors import SUBGROUPS, tensor_case

SIGNS = {"some": (1, -1, 0), "others": (0, 1, -1), "none": (-1, 0, -1)}  # of the tensor's sum, by the rank's seat


def cases(ranks: int, seed: int) -> list[Case]:
    """Some ranks have something to give and some do not; on 3 ranks once nobody has."""
    draw = random.Random(seed)
    rows: list[tuple[tuple[int, ...] | None, str, str]] = [(None, "float32", "some"), (None, "float64", "others")]
    rows += [(SUBGROUPS[ranks], "float64", "some")] if ranks in SUBGROUPS else []
    rows += [(None, "int64", "others")] if ranks == 4 else []
    rows += [(None, "float32", "none")] if ranks == 3 else []
    return [
        tensor_case(ranks, seed + n, group, numel=draw.randint(6, 12), dtype=dtype, gives=gives)
        for n, (group, dtype, gives) in enumerate(rows)
    ]


def signed(case: Case, rank: int) -> tuple[Tensor]:
    """Numbers with a sum just above or below 0, or exactly 0."""
    tensor = numbers(case, rank)
    seat = case.members.index(rank) if rank in case.members else 0
    least = 0.25 if tensor.is_floating_point() else 1
    tensor[0] += least * SIGNS[case.settings["gives"]][seat % 3] - tensor.sum()
    return (tensor,)


def wanted(case: Case) -> list[Tensor]:
    own = [signed(case, rank)[0] for rank in case.members]
    return [total([t if t.sum() > 0 else torch.zeros_like(t) for t in own])] * case.size


EXERCISE = Exercise(
    number=10,
    title="Mend the skipped collective",
    points=2,
    minutes=15,
    parameters="tensor, group=None",
    reference="lockstep.collectives:mend_skipped_collective",
    kind="mend",
    core=False,
    cases=cases,
    inputs=signed,
    wanted=wanted,
    budgets=(Budget("transfers", lambda case: min(1, case.size - 1), at_most=None, at_least=1),),
    seconds=2.5,
)
