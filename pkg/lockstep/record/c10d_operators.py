"""The meaning of each c10d operator: its kind, payload and peer. (gloo executes a reduce_scatter as an all_reduce; here
it is a reduce_scatter.) n is the tensor's size in bytes, K the group's size.

    call                                            kind            nbytes on each rank
    send, isend, recv, irecv                        send, recv      n
    batch_isend_irecv                               one send or recv for each of its operations
    broadcast, all_reduce, reduce                   the same        n
    all_reduce of several, coalesced                all_reduce      the sum of their sizes, as one operation
    all_gather(list), all_gather_into_tensor        all_gather      K n: what comes out, for n in
    reduce_scatter(list), reduce_scatter_tensor     reduce_scatter  K n: what goes in, for n out
    the same two, coalesced                         one operation for each tensor
    scatter                                         scatter         K n on the root, n elsewhere
    gather                                          gather          K n on the root, n elsewhere
    all_to_all(list), all_to_all_single             all_to_all      max(all that goes in, all that comes out)
    barrier, monitored_barrier                      barrier         0

Object collectives are the plain ones that torch makes of them, on pickles p padded to the longest:

    all_gather_object       all_gather 8 K, all_gather K max p
    gather_object           all_gather 8 K, gather (K max p on the root, max p elsewhere)
    broadcast_object_list   broadcast 8 len(list), broadcast (sum of p)
    scatter_object_list     broadcast 8, scatter max p, scatter 8
    send_object_list        send 8 len(list), send (sum of p)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod
from typing import Any

import torch
from torch.utils._pytree import tree_iter

from lockstep.deadlock_report import dtype_name
from lockstep.events import POINT_TO_POINT

KINDS = (  # the first that an operator's name starts with, underscores left out
    ("send", "send"), ("isend", "send"), ("recv", "recv"), ("irecv", "recv"), ("broadcast", "broadcast"),
    ("allreduce", "all_reduce"), ("allgather", "all_gather"), ("alltoall", "all_to_all"),
    ("reducescatter", "reduce_scatter"), ("reduce", "reduce"), ("scatter", "scatter"), ("gather", "gather"),
    ("barrier", "barrier"), ("monitoredbarrier", "barrier"),
)  # fmt: skip
INPUTS = ("input_tensors", "input_tensor", "input", "inputs", "input_list", "tensors", "tensor")
OUTPUTS = ("output_tensors", "output_tensor", "output", "outputs", "output_lists", "out")


Tensors = Sequence[torch.Tensor]


@lru_cache
def signature(operator: Any) -> tuple[str, tuple[str, ...]]:
    """The name of a c10d operator, underscores left out, and those of its arguments."""
    schema = operator._schema
    return schema.name.split("::")[1].replace("_", ""), tuple(a.name for a in schema.arguments)


def kind_of(name: str) -> str | None:
    """The kind of the operator ``name`` (underscores left out); None for one that does not communicate."""
    return next((kind for start, kind in KINDS if name.startswith(start)), None)


def what_moves(name: str, kind: str, given: dict[str, Any]) -> list[tuple[Tensors, Tensors]]:
    """The input and output tensors of each operation that the call consists of."""
    inputs, outputs = pick(given, INPUTS), pick(given, OUTPUTS)
    if name.startswith("allgathercoalesced"):  # for each rank a list
        outputs = list(zip(*outputs, strict=True))
    if name.endswith("coalesced") and kind != "all_reduce":
        pairs = list(zip(inputs, outputs or [()] * len(inputs), strict=True))
    else:
        pairs = [(inputs, outputs)]
    return [(list(tensors(i)), list(tensors(o))) for i, o in pairs]


def pick(given: dict[str, Any], names: Sequence[str]) -> Any:
    return next((given[n] for n in names if given.get(n) is not None), [])


def tensors(tree: Any) -> Iterable[torch.Tensor]:
    return (t for t in tree_iter(tree) if isinstance(t, torch.Tensor))


def size(of: Iterable[torch.Tensor]) -> int:
    return sum(t.numel() * t.element_size() for t in of)


def payload(kind: str, given: dict[str, Any], ins: Tensors, outs: Tensors, ranks: int) -> int:
    """``nbytes`` of an operation: the larger of its input and its output."""
    if kind == "barrier":
        return 0
    if kind == "all_gather" and not outs:  # functional: the output does not exist yet
        return size(ins) * ranks
    if kind == "all_to_all" and not outs:
        rows = sum(given["output_split_sizes"])
        return max(size(ins), rows * size(t[:1] for t in ins) if ins[0].shape[0] else 0)
    return max(size(ins), size(outs))


def what_must_agree(kind: str, ins: Tensors, outs: Tensors, ranks: int) -> tuple[tuple[int, str], ...]:
    if kind == "barrier" or kind in POINT_TO_POINT:
        return tuple((t.numel(), dtype_name(t.dtype)) for t in ins) if kind != "barrier" else ()
    if kind == "all_to_all":
        return ((0, dtype_name(ins[0].dtype)),) if ins else ()
    if kind == "scatter":
        return tuple((t.numel(), dtype_name(t.dtype)) for t in outs[:1])
    if kind == "reduce_scatter":
        return ((sum(t.numel() for t in ins) // ranks, dtype_name(ins[0].dtype)),)
    return tuple((t.numel(), dtype_name(t.dtype)) for t in ins)


def pieces(given: dict[str, Any], ins: Tensors, outs: Tensors, ranks: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The numbers of elements that an all_to_all sends to each rank of the group, and receives from each."""
    sends = cut(ins, given.get("input_split_sizes"), ranks)
    return sends, cut(outs or ins, given.get("output_split_sizes"), ranks)  # functional: no output exists yet


def cut(listed: Tensors, rows: Sequence[int] | None, ranks: int) -> tuple[int, ...]:
    if len(listed) != 1:
        return tuple(t.numel() for t in listed)
    row = prod(listed[0].shape[1:])
    return tuple(n * row for n in rows) if rows else (listed[0].numel() // ranks,) * ranks
