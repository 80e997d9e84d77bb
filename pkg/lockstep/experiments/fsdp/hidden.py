"""What hiding saves in a backward pass: transformer blocks of torch, in shards, without data, on a slow link."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import torch
import torch.distributed as dist
from torch import Tensor, nn

from lockstep.experiments.fsdp.your_line import FLAT, NODES
from lockstep.sharded.flat import shard_length
from lockstep.sharded.overlapped_backward import one_after_the_other, prefetch_backward
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.worlds import Result, run

BLOCKS, WIDTH, HEADS, ROWS, TOKENS = 6, 1024, 16, 8, 512
WAYS: Mapping[str, Callable[..., list[Tensor]]] = {
    "each waited for at once": one_after_the_other,
    "both hidden": prefetch_backward,
}


def blocks() -> list[nn.Module]:
    with torch.device("meta"):
        return [
            nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0.0, batch_first=True) for _ in range(BLOCKS)
        ]


def numels() -> list[int]:
    return [sum(p.numel() for p in block.parameters()) for block in blocks()]


def backward(way: str) -> None:
    """On a rank: a backward pass of all blocks."""
    shards = [torch.empty(shard_length(N, dist.get_world_size())) for N in numels()]
    rows = [torch.empty(ROWS, TOKENS, WIDTH) for _ in range(BLOCKS + 1)]
    WAYS[way](blocks(), shards, rows[:-1], rows[-1])


@cache
def backward_run(way: str) -> Result:
    """Without data; ``.show()`` draws it."""
    return run(backward, way, ranks=NODES, on=FLAT, fake=True)


def waiting(done: Result, kind: str) -> float:
    """Seconds for which rank 0 stands still and waits for transfers of a kind."""
    return sum(e.wait for e in done.trace.of_rank(0) if e.kind == kind)


def backward_table() -> Table:
    """How long the pass takes, and how much of it a rank waits."""
    rows = []
    for way in counted(WAYS, "Running"):
        done = backward_run(way)
        waits = [waiting(done, kind) for kind in ("all_gather", "reduce_scatter")]
        rows.append([way, *(f"{1e3 * seconds:.1f}" for seconds in (done.time, done.time - sum(waits), *waits))])
    head = ["", "ms in all", "computing", "waiting for gathers", "for reduce-scatters"]
    return Table(f"The backward pass of {BLOCKS} TransformerEncoderLayers on {NODES} GPUs", head, rows)
