"""Checks of the tensors that a rank passes to a collective, with the same messages in every world.

    broadcast, all_reduce, reduce       a dense tensor: x or x.t(), not x[:, 1]
    scatter, reduce_scatter             contiguous tensors: x, neither x.t() nor x[:, 1]
    those with a list                   one tensor for each rank of the group
    scatter, gather                     all tensors of the list, and the single one, have the same size
    all_gather, reduce_scatter          with one tensor instead of the list: K times the size of the other
    those that write to several         tensors that share no memory
    all_to_all_single                   an output that is not the input

NCCL rejects a tensor with gaps. gloo accepts it, and silently sends the bytes between its elements.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from lockstep.record.shared_memory import sharing
from lockstep.record.tensor_support import unsupported

Tensors = Sequence[torch.Tensor]

IN_ONE_PIECE = ("scatter", "reduce_scatter")
WITHOUT_GAPS = ("broadcast", "all_reduce", "reduce")
OF_ONE_SIZE = ("scatter", "gather")


def demand(kind: str, ins: Tensors, outs: Tensors, ranks: int, reduction: str = "", backend: str = "gloo") -> None:
    """Check a rank's part of a collective among ``ranks`` ranks. Raises ValueError if it cannot be executed."""
    for tensor in (*ins, *outs):
        if reason := unsupported(kind, tensor, reduction, backend):
            raise ValueError(reason)
    if kind in WITHOUT_GAPS or kind in IN_ONE_PIECE:
        for tensor in (*ins, *outs):
            check_layout(kind, tensor)
    elif kind == "all_to_all":
        for listed in (ins, outs):
            check_number(kind, listed, ranks)
        if len(ins) == len(outs) == 1 < ranks:
            check_not_in_place(ins[0], outs[0])
    many, one = (ins, outs) if kind in IN_ONE_PIECE else (outs, ins)
    if kind not in WITHOUT_GAPS and kind != "all_to_all" and many and one:
        check_number(kind, many, ranks)
        check_sizes(kind, [t.numel() for t in many], one[0].numel(), ranks)
    if kind not in WITHOUT_GAPS:  # an all_reduce of several tensors adds them up before it writes to any
        check_apart(kind, outs)


def check_layout(kind: str, tensor: torch.Tensor) -> None:
    if tensor.layout is not torch.strided or tensor.is_contiguous() or (kind in WITHOUT_GAPS and dense(tensor)):
        return
    shape = tuple(tensor.shape)
    raise ValueError(f"this tensor (shape {shape}) is not contiguous: give {kind} x.contiguous() instead")


def dense(tensor: torch.Tensor) -> bool:
    """Whether the elements fill a contiguous piece of memory, in any order of dimensions."""
    span = 1
    for stride, length in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if length != 1 and stride != span:
            return False
        span *= length
    return True


def check_apart(kind: str, written: Tensors) -> None:
    """Check that each of several outputs has memory of its own. gloo leaves there what it has written last."""
    if len(written) > 1 and (pair := sharing(written)):
        raise ValueError(
            f"{kind} writes to tensors {pair[0]} and {pair[1]} of its list, and these share memory: give it one of its "
            "own for each, [torch.empty_like(x) for _ in range(n)], not [torch.empty_like(x)] * n"
        )


def check_not_in_place(given: torch.Tensor, output: torch.Tensor) -> None:
    """gloo sends what it has just written there; NCCL's is undefined."""
    if sharing([given, output]):
        raise ValueError("all_to_all_single writes to the memory that it sends from: give it another tensor as output")


def check_number(kind: str, listed: Tensors, ranks: int) -> None:
    whole = 1 if kind not in OF_ONE_SIZE else ranks  # instead of a list
    if listed and len(listed) not in (whole, ranks):
        raise ValueError(
            f"{kind} needs a list of {ranks} tensors, one for each rank of the group, not of {len(listed)}"
        )


def check_sizes(kind: str, many: Sequence[int], one: int, ranks: int) -> None:
    """Check sizes. ``many``: elements of the tensors for all ranks; ``one``: of this rank's tensor."""
    if kind in OF_ONE_SIZE:
        wrong = next((r for r, size in enumerate(many) if size != one), None)
        if wrong is not None:
            raise ValueError(f"{kind} has {many[wrong]} elements for rank {wrong} of the group, and {one} on this rank")
    elif len(many) < ranks and many[0] != ranks * one:
        raise ValueError(
            f"{kind} among {ranks} ranks has {many[0]} elements for all, and {one} for one: not {ranks} times"
        )
