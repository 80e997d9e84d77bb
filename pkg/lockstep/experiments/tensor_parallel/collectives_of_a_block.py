"""The collectives of a Transformer block, forward and backward, from traces of each kind of tensor parallelism.

    n      b·T·h numbers, what passes between blocks        h      numbers of a norm's weights, or of a bias

    way                          forward                                   backward
    tensor                       2 all-reduces of n                        2 all-reduces of n
    sequence                     2 all-gathers, 2 reduce-scatters of n     4 all-gathers, 2 reduce-scatters of n;
                                                                           6 all-reduces of h
    sequence, gathered once      as above                                  2 all-gathers, ...

The six are the weight and the bias of both norms, and the biases of the two layers that are cut by rows, which come
after the reduce-scatter: ``whole_on_each``. Each meets the rank's own positions only, so its gradient is a summand.

An MLP whose first layer is row-parallel and whose second is column-parallel sends more: each rank needs all 4h numbers
of the sum before GeLU, so that both all-reduces are of 4·n, and outputs and gradients are gathered. ``rows_first``: 4.5
times as much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional as F

from lockstep.events import Count, Trace
from lockstep.models import Block, linear
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.tensor_parallel.f_and_g import scatter_to_region
from lockstep.tensor_parallel.linear import PLAIN, ColumnParallelLinear, RowParallelLinear, Style
from lockstep.tensor_parallel.overlapped import OVERLAPPED
from lockstep.tensor_parallel.sequence import KEEPING, SEQUENCE
from lockstep.tensor_parallel.transformer import ParallelBlock, ParallelMLP
from lockstep.worlds import run

b, T, h, HEADS, RANKS = 2, 16, 32, 4, 4
STYLES: Mapping[str, Style] = {
    "tensor": PLAIN,
    "tensor, overlapped": OVERLAPPED,
    "sequence": SEQUENCE,
    "sequence, gathered once": KEEPING,
}
KINDS = ("all_reduce", "all_gather", "reduce_scatter")

Counts = dict[str, Count]  # by kind


def passed(way: str, backward: bool) -> None:
    """On a rank: a block's forward pass, and its backward pass after it."""
    style = STYLES[way]
    block = ParallelBlock(Block(h, HEADS, 0, 0), style=style)
    positions = T // dist.get_world_size() if style in (SEQUENCE, KEEPING) else T
    out = block(torch.ones(b, positions, h, requires_grad=True))
    if backward:
        out.sum().backward()


def counts(way: str) -> tuple[Counts, Counts]:
    """Of rank 0, forward and backward."""
    there, both = (of_rank_0(run(passed, way, again, ranks=RANKS, on="dgx-a100").trace) for again in (False, True))
    return there, {kind: Count(*(x - y for x, y in zip(both[kind], there[kind], strict=True))) for kind in KINDS}


def sizes() -> dict[str, int]:
    """On a rank: how many numbers of each of a block's parameters it has."""
    return {name: p.numel() for name, p in ParallelBlock(Block(h, HEADS, 0, 0), style=SEQUENCE).named_parameters()}


def whole_on_each() -> list[str]:
    """The parameters of a block that are not cut: the same on all ranks."""
    alone, parts = (run(sizes, ranks=ranks, on="dgx-a100").values[0] for ranks in (1, RANKS))
    return [name for name, size in parts.items() if size == alone[name]]


def of_rank_0(trace: Trace) -> Counts:
    found = trace.counts()
    return {kind: found.get((0, kind), Count(0, 0)) for kind in KINDS}


def counted_table(ways: Sequence[str] = tuple(STYLES)) -> Table:
    """In numbers of collectives; and what a ring sends of them, in parts of n."""
    rows = []
    for way in counted(ways, "Running", each=2.0):
        forward, backward = counts(way)
        rows.append([way, *map(told, (forward, backward)), *(f"{sent(c):.3g} n" for c in (forward, backward))])
    head = ["", "forward", "backward", "sent forward", "sent backward"]
    return Table(
        f"A block on {RANKS} ranks: collectives from traces, and what rings send (n = b·T·h numbers)", head, rows
    )


def told(found: Counts) -> str:
    names = {kind: kind.replace("_", "-") for kind in KINDS}
    return ", ".join(f"{count.number} {names[kind]}" for kind, count in found.items() if count.number)


def sent(found: Counts) -> float:
    """By rings, in parts of n: an all-reduce is twice what its halves are."""
    n, share = 4 * b * T * h, (RANKS - 1) / RANKS
    return share * sum((2 if kind == "all_reduce" else 1) * count.nbytes for kind, count in found.items()) / n


# ---- the other order


def mlp(columns_first: bool) -> Tensor:
    """On a rank: an MLP's forward and backward pass. Each linear layer is in parts, in either order."""
    up, down = linear(h, 4 * h, 0, 0), linear(4 * h, h, 0, 1)
    x = torch.ones(b, T, h, requires_grad=True)
    if columns_first:
        out: Tensor = ParallelMLP(up, down)(x)
    else:
        inside = RowParallelLinear(up)(scatter_to_region(x))
        out = ColumnParallelLinear(down, gather_output=True)(F.gelu(inside))
    out.sum().backward()  # type: ignore[no-untyped-call]
    return out.detach()


def rows_first() -> float:
    """How many times as much an MLP sends if its first layer is cut by rows and its second by columns."""
    first, second = (run(mlp, order, ranks=RANKS, on="dgx-a100").trace for order in (False, True))
    return sent(of_rank_0(first)) / sent(of_rank_0(second))
