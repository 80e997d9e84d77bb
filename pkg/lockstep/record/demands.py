"""What a collective asks of the tensors that one rank gives it, told in the same words in every world.

    broadcast, all_reduce, reduce       a tensor without gaps: x or x.t(), not x[:, 1]
    scatter, reduce_scatter             tensors in one piece: x, neither x.t() nor x[:, 1]
    those with a list                   one tensor for each rank of the group
    scatter, gather                     tensors of one size in it and beside it
    all_gather, reduce_scatter          with one tensor instead of the list: that of K ranks

NCCL refuses a tensor with gaps. gloo takes it, sends what lies between its elements, and says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

Tensors = Sequence[torch.Tensor]

IN_ONE_PIECE = ("scatter", "reduce_scatter")
WITHOUT_GAPS = ("broadcast", "all_reduce", "reduce")
OF_ONE_SIZE = ("scatter", "gather")


def demand(kind: str, ins: Tensors, outs: Tensors, ranks: int) -> None:
    """Raises ValueError where a rank's part of a collective among ``ranks`` ranks can't be carried out."""
    if kind in WITHOUT_GAPS or kind in IN_ONE_PIECE:
        for tensor in (*ins, *outs):
            check_layout(kind, tensor)
    elif kind == "all_to_all":
        for listed in (ins, outs):
            check_number(kind, listed, ranks)
    many, one = (ins, outs) if kind in IN_ONE_PIECE else (outs, ins)
    if kind not in WITHOUT_GAPS and kind != "all_to_all" and many and one:
        check_number(kind, many, ranks)
        check_sizes(kind, [t.numel() for t in many], one[0].numel(), ranks)


def check_layout(kind: str, tensor: torch.Tensor) -> None:
    if tensor.layout is not torch.strided or tensor.is_contiguous() or (kind in WITHOUT_GAPS and dense(tensor)):
        return
    shape = tuple(tensor.shape)
    raise ValueError(f"this tensor (shape {shape}) is not contiguous: give {kind} x.contiguous() instead")


def dense(tensor: torch.Tensor) -> bool:
    """Whether the elements fill a piece of memory, in any order."""
    span = 1
    for stride, length in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if length != 1 and stride != span:
            return False
        span *= length
    return True


def check_number(kind: str, listed: Tensors, ranks: int) -> None:
    whole = 1 if kind not in OF_ONE_SIZE else ranks  # instead of a list
    if listed and len(listed) not in (whole, ranks):
        raise ValueError(
            f"{kind} needs a list of {ranks} tensors, one for each rank of the group, not of {len(listed)}"
        )


def check_sizes(kind: str, many: Sequence[int], one: int, ranks: int) -> None:
    """``many``: elements of what is for all ranks; ``one``: of what is for this one."""
    if kind in OF_ONE_SIZE:
        wrong = next((r for r, size in enumerate(many) if size != one), None)
        if wrong is not None:
            raise ValueError(f"{kind} has {many[wrong]} elements for rank {wrong} of the group, and {one} on this rank")
    elif len(many) < ranks and many[0] != ranks * one:
        raise ValueError(
            f"{kind} among {ranks} ranks has {many[0]} elements for all, and {one} for one: not {ranks} times"
        )
