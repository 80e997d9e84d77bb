"""The data movement of messages and collectives: what they do to the tensors of all ranks, once every rank has joined.

Each function of a collective takes the parts in group order; ``part.tensors`` is ``(outputs, inputs)``, lists of
detached tensors. Reductions are evaluated in group order, so that the result is the same in every run.
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

COMPARED = 2**20  # bytes: larger messages are assumed not to have been modified

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


def nbytes(tensor: Tensor) -> int:
    """What is sent of a tensor: of a sparse one its indices and values."""
    if tensor.layout is torch.sparse_coo:
        return tensor._indices().nbytes + tensor._values().nbytes
    return tensor.numel() * tensor.element_size()


def quietly(move: Mover) -> Mover:
    """Let ``move`` run without autograd and without dispatch modes, so that no clock is charged."""

    @wraps(move)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with _DisableTorchDispatch(), _AutoDispatchBelowAutograd():
            return move(*args, **kwargs)

    return wrapper  # type: ignore[return-value]


def message(sent: Tensor, received: Tensor) -> None:
    """Copy a message: both tensors are contiguous and have the same number of elements; their shapes may differ."""
    with _DisableTorchDispatch(), _AutoDispatchBelowAutograd():
        unnoticed(received).copy_(sent if sent.shape == received.shape else sent.view(received.shape))


@quietly
def buffered(sent: Tensor) -> Tensor:
    """The copy that a buffered send makes."""
    return sent.clone()


@quietly
def kept(sent: Tensor) -> Tensor | None:
    """A copy of what is sent; None of a large tensor, or one without data, or a sparse one."""
    plain = type(sent) is Tensor and sent.layout is torch.strided
    return sent.clone() if plain and sent.nbytes <= COMPARED else None


@quietly
def changed(sent: Tensor, copy: Tensor) -> bool:
    """Whether any bit differs. A NaN equals itself."""
    return not torch.equal(flat(sent).view(torch.uint8), flat(copy).view(torch.uint8))


@quietly
def spoil(tensor: Tensor) -> None:
    """Fill a buffer that only receives with NaN, if it can hold that: what is read too early then shows."""
    if tensor.layout is torch.strided and (tensor.is_floating_point() or tensor.is_complex()):
        unnoticed(tensor).fill_(float("nan"))


def combine(tensors: Sequence[Tensor], operator: str) -> Tensor:
    """``operator``: a name in REDUCTIONS, or "0.5·SUM" for the sum of halves."""
    factor, _, name = operator.rpartition("·")
    tensors = of_one_shape(tensors)
    terms = [float(factor) * t for t in tensors] if factor else tensors
    total = fold(REDUCTIONS[name], terms[1:], terms[0].clone())
    return total / len(tensors) if name == "AVG" else total


def of_one_shape(tensors: Sequence[Tensor]) -> Sequence[Tensor]:
    """These tensors, which have equally many elements: one after another in memory, if their shapes differ."""
    return tensors if all(t.shape == tensors[0].shape for t in tensors) else [flat(t) for t in tensors]


def flat(tensor: Tensor) -> Tensor:
    """The elements of a tensor without gaps in the order of its memory, as a view of one dimension."""
    return tensor.as_strided((tensor.numel(),), (1,))


def put_into(slot: Tensor, piece: Tensor) -> None:
    """Copy as backends do, which know no shapes: element by element in the order of memory."""
    if slot.shape == piece.shape:
        slot.copy_(piece)
    else:
        flat(slot).copy_(flat(piece))


def deliver(part: Operation, at: int, value: Tensor) -> None:
    """Give a rank the output number ``at`` of its part in a collective: at once, or when it waits (in_flight.py).
    ``value``: nobody changes it any more."""
    tensor = part.tensors[0][at]
    if not part.withheld or part.waiting:
        put_into(unnoticed(tensor), value)
    else:
        part.landing = [*(part.landing or ()), (value, tensor)]


@quietly
def land(landing: Sequence[tuple[Tensor, Tensor]]) -> None:
    """Put what has arrived in place."""
    for value, tensor in landing:
        put_into(unnoticed(tensor), value)


def unnoticed(tensor: Tensor) -> Tensor:
    """An alias whose modification autograd does not notice, as with gloo and NCCL. So a tensor that was saved in the
    forward pass may be freed and gathered again before the backward pass. A ``Form`` is returned as it is, and a sparse
    tensor, whose alias would get new indices of its own."""
    return tensor.data if isinstance(tensor, Tensor) and tensor.layout is torch.strided else tensor


def inputs(part: Operation) -> list[Tensor]:
    result: list[Tensor] = part.tensors[1]
    return result


def all_reduce(parts: Parts, operator: str) -> None:
    """All sums before any is written: of several tensors, some may share memory."""
    totals = [combine([inputs(p)[i] for p in parts], operator) for i in range(len(inputs(parts[0])))]
    for p in parts:
        for i, total in enumerate(totals):
            deliver(p, i, total)


def reduce(parts: Parts, operator: str, root: int) -> None:
    deliver(parts[root], 0, combine([inputs(p)[0] for p in parts], operator))


def broadcast(parts: Parts, root: int) -> None:
    source = inputs(parts[root])[0]
    if any(p.withheld for p in parts):
        source = source.clone()  # its owner may change it before others wait
    for part in parts:
        if part is not parts[root]:
            deliver(part, 0, source)


def scatter(parts: Parts, root: int) -> None:
    for part, piece in zip(parts, copies(inputs(parts[root])), strict=True):
        deliver(part, 0, piece)


def gather(parts: Parts, root: int) -> None:
    for i, piece in enumerate(firsts(parts)):
        deliver(parts[root], i, piece)


def all_gather(parts: Parts) -> None:
    """Outputs: one tensor for each rank."""
    pieces = firsts(parts)
    for part in parts:
        for i, piece in enumerate(pieces):
            deliver(part, i, piece.view(part.tensors[0][i].shape))


def all_gather_into_tensor(parts: Parts) -> None:
    """Outputs: one tensor that holds all, in group order."""
    whole = torch.cat([inputs(p)[0].reshape(-1) for p in parts])
    for part in parts:
        deliver(part, 0, whole.view(part.tensors[0][0].shape))


def reduce_scatter(parts: Parts, operator: str) -> None:
    """Inputs: one tensor for each rank; they may differ in size."""
    pieces = [combine([inputs(p)[i] for p in parts], operator) for i in range(len(parts))]
    for part, piece in zip(parts, pieces, strict=True):
        deliver_if_it_fits(part, 0, piece, "every rank has")


def reduce_scatter_tensor(parts: Parts, operator: str) -> None:
    """Inputs: one tensor that holds the pieces of all ranks."""
    whole = combine([inputs(p)[0].reshape(-1) for p in parts], operator)
    for part, piece in zip(parts, whole.chunk(len(parts)), strict=True):
        deliver(part, 0, piece.view(part.tensors[0][0].shape))


def all_to_all(parts: Parts) -> None:
    """Inputs and outputs: one tensor for each rank."""
    pieces = [copies(inputs(p)) for p in parts]
    for j, part in enumerate(parts):
        for i, sender in enumerate(parts):
            deliver_if_it_fits(part, i, pieces[i][j], f"rank {sender.rank} has")


def copies(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Copies of the inputs, since a tensor may be both an input and an output."""
    return [t.clone() for t in tensors]


def firsts(parts: Parts) -> list[Tensor]:
    return copies([inputs(p)[0] for p in parts])


def deliver_if_it_fits(target: Operation, at: int, piece: Tensor, who_has: str) -> None:
    slot = target.tensors[0][at]
    if (piece.numel(), piece.dtype) != (slot.numel(), slot.dtype):
        sizes = (f"{t.numel()} elements of {dtype_name(t.dtype)}" for t in (piece, slot))
        raise deadlock_report.ill_cut(target.kind, who_has, next(sizes), target.rank, next(sizes))
    deliver(target, at, piece.view(slot.shape))


def nothing(parts: Parts) -> None:
    """A barrier moves no data."""
