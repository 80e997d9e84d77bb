"""Inputs of most exercises of this unit: one tensor on every rank, with the groups, sizes, layouts and dtypes that
learners' answers stumble over."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial
from typing import Any

from torch import Tensor

from lockstep.checks.case import Case, numbers
from lockstep.checks.exercise import Exercise, Run
from lockstep.checks.values import total

BUILT_BY_HAND = ("broadcast", "reduce", "all_reduce", "scatter", "gather", "all_gather", "reduce_scatter", "all_to_all")
SUBGROUPS = {4: (1, 3), 5: (1, 2, 4), 8: (1, 3, 4, 6)}
PLAIN = {"dtype": "float32", "layout": "contiguous"}
AWKWARD: dict[int, list[dict[str, Any]]] = {
    2: [{"numel": 0, "trivial": True}],
    3: [{"numel": 2}],
    4: [{"numel": 12, "dtype": "int64"}, {"zeros_on": 0}],  # the latter as large as the first: a buffer may be kept
    5: [{"numel": 10, "dtype": "float64", "layout": "matrix"}],
    8: [{"numel": 1, "layout": "()"}],
}


def groups(ranks: int) -> Sequence[tuple[int, ...] | None]:
    """The world, and where there is one a group that is not the world."""
    return (None, SUBGROUPS[ranks]) if ranks in SUBGROUPS else (None,)


def tensor_cases(ranks: int, seed: int) -> list[Case]:
    """On so many ranks: a size that they divide and one that they do not, and by turns a subgroup, fewer elements
    than ranks or none, whole numbers, zeros on one rank, a matrix, a single number."""
    draw = random.Random(seed)
    rows: list[dict[str, Any]] = [{"numel": ranks * draw.randint(3, 6)}]
    rows += [{"numel": ranks * draw.randint(3, 6) + draw.randint(1, ranks - 1)}] if ranks > 1 else []
    rows += [{**rows[0], **row} for row in AWKWARD.get(ranks, [])]
    worlds = [(None, row) for row in rows] + [(group, {"numel": 12}) for group in groups(ranks)[1:]]
    return [Case(ranks, seed + n, group, {**PLAIN, **row}) for n, (group, row) in enumerate(worlds)]


def one_tensor(case: Case, rank: int) -> tuple[Tensor]:
    return (numbers(case, rank),)


def members_tensors(case: Case) -> list[Tensor]:
    """What each member of the group starts with."""
    return [numbers(case, rank) for rank in case.members]


def sums(case: Case) -> list[Tensor]:
    """The sum over the group, for each member."""
    return [total(members_tensors(case))] * case.size


def nbytes(case: Case) -> int:
    """N: the bytes of the tensor."""
    return numbers(case, case.members[0]).nbytes


def one(case: Case) -> int:
    """A message, or a round; alone there is nobody to send to."""
    return min(1, case.size - 1)


def changeable(*names: str) -> list[str]:
    """For ``may_change``: an answer may work in these arguments, and return one of them."""
    return [f"{name}.{what}" for name in names for what in ("values", "shared")]


collective = partial(
    Exercise, parameters="tensor, group=None", cases=tensor_cases, inputs=one_tensor, run=Run(timeout=2.5)
)
