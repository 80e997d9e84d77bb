"""Arguments that a function should leave as they were."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain


def changed(exercise: Exercise, seen: Seen) -> Fault | None:
    """The first argument that holds other bits afterwards."""
    rank, name = spoilt(exercise, seen)
    if not name:
        return None
    told = f"With {seen.case}: rank {rank} changes its argument {name}. Leave it as it was."
    return Fault("changes-arguments", told, telling=True)


def spoilt(exercise: Exercise, seen: Seen) -> tuple[int, str]:
    """The rank and the name of that argument; no name if all are as they were."""
    for rank in seen.case.members:
        names, before = exercise.parameters.split(", "), exercise.inputs(seen.case, rank)
        for name, after, given in zip(names, seen.arguments[rank], before, strict=False):
            left, had = tree_leaves(after), tree_leaves(plain(given))
            if len(left) != len(had) or not all(map(same_bits, left, had)):
                return rank, name
    return -1, ""


def same_bits(a: object, b: object) -> bool:
    """Whether two tensors hold the same, element by element; anything else counts as the same."""
    if not (isinstance(a, Tensor) and isinstance(b, Tensor)):
        return True
    return a.shape == b.shape and torch.equal(_bits(a), _bits(b))


def _bits(tensor: Tensor) -> Tensor:
    return tensor.reshape(-1).clone(memory_format=torch.contiguous_format).view(torch.uint8)
