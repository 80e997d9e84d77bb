"""What a collective does to the tensors, once every rank of the group is there.

Each function takes the parts in group order; ``part.tensors`` is ``(outputs, inputs)``, lists of tensors without
autograd. Reductions add in group order, so that the result is the same on every run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce as fold

import torch

from lockstep.errors import Mismatch
from lockstep.virtual.operations import Operation

Tensor = torch.Tensor
Parts = Sequence[Operation]

REDUCTIONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "SUM": torch.add,
    "AVG": torch.add,
    "PRODUCT": torch.mul,
    "MIN": torch.minimum,
    "MAX": torch.maximum,
    "BAND": torch.bitwise_and,
    "BOR": torch.bitwise_or,
    "BXOR": torch.bitwise_xor,
}


def combine(tensors: Sequence[Tensor], operator: str) -> Tensor:
    total = fold(REDUCTIONS[operator], tensors[1:], tensors[0].clone())
    return total / len(tensors) if operator == "AVG" else total


def outputs(part: Operation) -> list[Tensor]:
    result: list[Tensor] = part.tensors[0]
    return result


def inputs(part: Operation) -> list[Tensor]:
    result: list[Tensor] = part.tensors[1]
    return result


def all_reduce(parts: Parts, operator: str) -> None:
    for i in range(len(inputs(parts[0]))):
        total = combine([inputs(p)[i] for p in parts], operator)
        for p in parts:
            outputs(p)[i].copy_(total)


def reduce(parts: Parts, operator: str, root: int) -> None:
    total = combine([inputs(p)[0] for p in parts], operator)
    outputs(parts[root])[0].copy_(total)


def broadcast(parts: Parts, root: int) -> None:
    for target, source in ((outputs(p)[0], inputs(parts[root])[0]) for p in parts):
        if target is not source:
            target.copy_(source)


def scatter(parts: Parts, root: int) -> None:
    for part, piece in zip(parts, inputs(parts[root]), strict=True):
        outputs(part)[0].copy_(piece)


def gather(parts: Parts, root: int) -> None:
    for slot, part in zip(outputs(parts[root]), parts, strict=True):
        slot.copy_(inputs(part)[0])


def all_gather(parts: Parts) -> None:
    """Outputs: one tensor for each rank."""
    for part in parts:
        for slot, other in zip(outputs(part), parts, strict=True):
            slot.copy_(inputs(other)[0].view(slot.shape))


def all_gather_into_tensor(parts: Parts) -> None:
    """Outputs: one tensor that holds all, in group order."""
    whole = torch.cat([inputs(p)[0].reshape(-1) for p in parts])
    for part in parts:
        outputs(part)[0].copy_(whole.view(outputs(part)[0].shape))


def reduce_scatter(parts: Parts, operator: str) -> None:
    """Inputs: one tensor for each rank."""
    for i, part in enumerate(parts):
        outputs(part)[0].copy_(combine([inputs(p)[i] for p in parts], operator))


def reduce_scatter_tensor(parts: Parts, operator: str) -> None:
    """Inputs: one tensor that holds the pieces of all ranks."""
    whole = combine([inputs(p)[0].reshape(-1) for p in parts], operator)
    for part, piece in zip(parts, whole.chunk(len(parts)), strict=True):
        outputs(part)[0].copy_(piece.view(outputs(part)[0].shape))


def all_to_all(parts: Parts) -> None:
    """Inputs and outputs: one tensor for each rank. Pieces are cut before any output is written."""
    pieces = [[t.clone() for t in inputs(p)] for p in parts]
    for j, part in enumerate(parts):
        for i, slot in enumerate(outputs(part)):
            fits(parts[i], part, pieces[i][j], slot)
            slot.copy_(pieces[i][j].view(slot.shape))


def fits(source: Operation, target: Operation, piece: Tensor, slot: Tensor) -> None:
    if (piece.numel(), piece.dtype) != (slot.numel(), slot.dtype):
        raise Mismatch(
            f"Mismatch: in all_to_all, rank {source.rank} has {piece.numel()} elements of {piece.dtype} for rank "
            f"{target.rank}, which expects {slot.numel()} of {slot.dtype}."
        )


def nothing(parts: Parts) -> None:
    """A barrier moves no data."""
