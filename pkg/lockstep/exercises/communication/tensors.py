"""What most exercises of this unit share: one tensor on every rank, and the groups, sizes, layouts and dtypes that
learners' answers stumble over."""

from __future__ import annotations

import random
from typing import Any

from torch import Tensor

from lockstep.checks.case import Case, numbers
from lockstep.checks.values import total

BUILT_BY_HAND = ("broadcast", "reduce", "all_reduce", "scatter", "gather", "all_gather", "reduce_scatter", "all_to_all")
SUBGROUPS = {4: (1, 3), 5: (1, 2, 4), 8: (1, 3, 4, 6)}


def tensor_cases(ranks: int, seed: int) -> list[Case]:
    """On so many ranks: a size that they divide and one that they do not, and by turns a subgroup, fewer elements
    than ranks or none, whole numbers, a matrix."""
    draw = random.Random(seed)
    rows: list[dict[str, Any]] = [{"numel": ranks * draw.randint(3, 6)}]
    if ranks > 1:
        rows.append({"numel": ranks * draw.randint(3, 6) + draw.randint(1, ranks - 1)})
    if ranks == 2:
        rows.append({"numel": 0, "trivial": True})
    if ranks == 3:
        rows.append({"numel": 2})
    if ranks == 4:
        rows.append({"numel": 12, "dtype": "int64"})
    if ranks == 5:
        rows.append({"numel": 10, "dtype": "float64", "layout": "matrix"})
    rows += [{"group": SUBGROUPS[ranks], "numel": 12}] if ranks in SUBGROUPS else []
    return [tensor_case(ranks, seed + number, **row) for number, row in enumerate(rows)]


def tensor_case(ranks: int, seed: int, group: tuple[int, ...] | None = None, **settings: Any) -> Case:
    return Case(ranks, seed, group, {"dtype": "float32", "layout": "contiguous", **settings})


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
    tensor = numbers(case, case.members[0])
    return tensor.numel() * tensor.element_size()


def itemsize(case: Case) -> int:
    return numbers(case, case.members[0]).element_size()
