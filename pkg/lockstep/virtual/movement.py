"""What a message does to two tensors, and what a collective does to those of all ranks, once every rank is there.

For a collective, each function takes the parts in group order; ``part.tensors`` is ``(outputs, inputs)``, lists of
tensors without autograd. Reductions add in group order, so that the result is the same on every run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce as fold
from functools import wraps
from typing import Any, TypeVar

import torch
from torch._C import _AutoDispatchBelowAutograd, _DisableTorchDispatch

from lockstep import deadlock_report
from lockstep.comm.operation import Operation
from lockstep.deadlock_report import dtype_name

Tensor = torch.Tensor
Parts = Sequence[Operation]
Mover = TypeVar("Mover", bound=Callable[..., Any])

COMPARED = 2**20  # bytes: a larger message is taken to have stayed as it was

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


def quietly(move: Mover) -> Mover:
    """Move data without autograd and without charging the rank's clock for it."""

    @wraps(move)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with _DisableTorchDispatch(), _AutoDispatchBelowAutograd():
            return move(*args, **kwargs)

    return wrapper  # type: ignore[return-value]


def message(sent: Tensor, received: Tensor) -> None:
    """The same number of elements, in one piece each; the shapes may differ. Quietly, too."""
    with _DisableTorchDispatch(), _AutoDispatchBelowAutograd():
        unnoticed(received).copy_(sent if sent.shape == received.shape else sent.view(received.shape))


@quietly
def buffered(sent: Tensor) -> Tensor:
    """A copy for a sender that does not wait."""
    return sent.clone()


@quietly
def kept(sent: Tensor) -> Tensor | None:
    """The bytes by which `changed` can tell; None of what is large, or only a shape."""
    return None if sent.nbytes > COMPARED or type(sent) is not Tensor else _bits(sent)


@quietly
def changed(sent: Tensor, before: Tensor) -> bool:
    """Whether any bit differs. NaN is itself."""
    return not torch.equal(_bits(sent), before)


def _bits(tensor: Tensor) -> Tensor:
    """A copy; one element may lie there with any stride, which a view of bytes refuses."""
    return tensor.reshape(-1).clone(memory_format=torch.contiguous_format).view(torch.uint8)


def combine(tensors: Sequence[Tensor], operator: str) -> Tensor:
    """``operator``: a name in REDUCTIONS, or "0.5·SUM" for the sum of halves."""
    factor, _, name = operator.rpartition("·")
    terms = [float(factor) * t for t in tensors] if factor else tensors
    total = fold(REDUCTIONS[name], terms[1:], terms[0].clone())
    return total / len(tensors) if name == "AVG" else total


def outputs(part: Operation) -> list[Tensor]:
    return [unnoticed(tensor) for tensor in part.tensors[0]]


def unnoticed(tensor: Tensor) -> Tensor:
    """To write to as gloo and NCCL do: autograd does not count it as a change. So what a forward pass has saved may be
    freed and gathered again before the backward pass. What is no tensor but its form is given back."""
    return tensor.data if isinstance(tensor, Tensor) else tensor


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
    source = inputs(parts[root])[0]
    for part in parts:
        if part.tensors[0][0] is not source:
            outputs(part)[0].copy_(source)


def scatter(parts: Parts, root: int) -> None:
    for part, piece in zip(parts, copies(inputs(parts[root])), strict=True):
        outputs(part)[0].copy_(piece)


def gather(parts: Parts, root: int) -> None:
    for slot, piece in zip(outputs(parts[root]), firsts(parts), strict=True):
        slot.copy_(piece)


def all_gather(parts: Parts) -> None:
    """Outputs: one tensor for each rank."""
    pieces = firsts(parts)
    for part in parts:
        for slot, piece in zip(outputs(part), pieces, strict=True):
            slot.copy_(piece.view(slot.shape))


def all_gather_into_tensor(parts: Parts) -> None:
    """Outputs: one tensor that holds all, in group order."""
    whole = torch.cat([inputs(p)[0].reshape(-1) for p in parts])
    for part in parts:
        outputs(part)[0].copy_(whole.view(outputs(part)[0].shape))


def reduce_scatter(parts: Parts, operator: str) -> None:
    """Inputs: one tensor for each rank; they may differ in size."""
    pieces = [combine([inputs(p)[i] for p in parts], operator) for i in range(len(parts))]
    for part, piece in zip(parts, pieces, strict=True):
        put(piece, outputs(part)[0], part, "every rank has")


def reduce_scatter_tensor(parts: Parts, operator: str) -> None:
    """Inputs: one tensor that holds the pieces of all ranks."""
    whole = combine([inputs(p)[0].reshape(-1) for p in parts], operator)
    for part, piece in zip(parts, whole.chunk(len(parts)), strict=True):
        outputs(part)[0].copy_(piece.view(outputs(part)[0].shape))


def all_to_all(parts: Parts) -> None:
    """Inputs and outputs: one tensor for each rank."""
    pieces = [copies(inputs(p)) for p in parts]
    for j, part in enumerate(parts):
        for i, slot in enumerate(outputs(part)):
            put(pieces[i][j], slot, part, f"rank {parts[i].rank} has")


def copies(tensors: Sequence[Tensor]) -> list[Tensor]:
    """What goes in, as it is before anything comes out: a tensor may be both."""
    return [t.clone() for t in tensors]


def firsts(parts: Parts) -> list[Tensor]:
    return copies([inputs(p)[0] for p in parts])


def put(piece: Tensor, slot: Tensor, target: Operation, who_has: str) -> None:
    if (piece.numel(), piece.dtype) != (slot.numel(), slot.dtype):
        sizes = (f"{t.numel()} elements of {dtype_name(t.dtype)}" for t in (piece, slot))
        raise deadlock_report.ill_cut(target.kind, who_has, next(sizes), target.rank, next(sizes))
    slot.copy_(piece.view(slot.shape))


def nothing(parts: Parts) -> None:
    """A barrier moves no data."""
