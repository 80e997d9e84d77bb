"""A model with parallel branches: all on one GPU, one after another, compared with one GPU per branch, all at once."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.distributed as dist
from torch import nn

from lockstep.experiments.pipeline.branches import Branched
from lockstep.experiments.pipeline.training import Flat
from lockstep.tables import Table
from lockstep.worlds import Result, run

DEPTH, FLAT = 4, Flat()  # layers of a branch; their width, and the batch


def passes(branches: int, flat: Flat) -> None:
    """Runs on each rank: a forward and a backward pass. A single rank has all branches."""
    x = torch.ones(flat.batch, flat.width)
    if dist.get_world_size() == 1:
        model = nn.ModuleList([flat.chunk(DEPTH) for _ in range(branches)])
        out = sum((branch(x) for branch in model), torch.zeros_like(x))
    else:
        out = Branched(flat.chunk(DEPTH))(x)
    out.sum().backward()


def executed(branches: int, ranks: int, flat: Flat = FLAT) -> Result:
    return run(passes, branches, flat, ranks=ranks, on="dgx-a100", fake=True)


def branches_table(counts: Sequence[int] = (2, 4, 8), flat: Flat = FLAT) -> Table:
    """The speedup from running all branches at once, and the collectives that it takes."""
    rows = []
    for K in counts:
        alone, together = executed(K, 1, flat), executed(K, K, flat)
        kinds = [e.kind for e in together.trace.of_rank(0)]
        told = ", ".join(f"{kinds.count(kind)} {kind}" for kind in ("broadcast", "reduce"))
        times = f"{alone.time * 1e3:.1f} ms", f"{together.time * 1e3:.1f} ms", f"{alone.time / together.time:.2f}"
        rows.append([str(K), *times, told])
    head = ["branches", "one GPU", "a GPU each", "times as fast", "collectives of a step"]
    return Table(f"Branches of {DEPTH} layers, {flat.batch:,} examples, simulated A100", head, rows)
