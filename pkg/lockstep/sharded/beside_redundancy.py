"""Stage 1 beside torch's: DistributedDataParallel with ``ZeroRedundancyOptimizer``, which divides whole parameters.

                  who updates what                    gradients         new parameters
    Zero, 1       n numbers of each bucket: all as    reduce-scatter    all-gather
                  much, but for padding
    torch's       a rank the largest parameter,       all-reduce        each owner broadcasts
                  another the next, and so on                           what it has updated

A parameter that is larger than Ψ/K makes its owner's part larger than the others'. The all-reduce gives all gradients
to all ranks, though each needs its part: a ring sends 2Ψ(K-1)/K numbers for it, and the broadcasts come on top.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

from lockstep.models import mlp
from lockstep.sharded.zero import Zero
from lockstep.tables import Table
from lockstep.worlds import run

SIZES, EXAMPLES, STEPS = (64, 96, 64, 32), 24, 2


def ours() -> list[Tensor]:
    """On a rank: the parameters after training."""
    model = mlp(SIZES)
    zero = Zero(model, torch.optim.Adam, stage=1)
    for _ in range(STEPS):
        zero.zero_grad()
        zero(share()).square().mean().backward()
        zero.step()
    return [p.detach() for p in model.parameters()]


def torchs() -> list[Tensor]:
    model = mlp(SIZES)
    ddp = DistributedDataParallel(model, gradient_as_bucket_view=True)
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam)
    for _ in range(STEPS):
        optimizer.zero_grad()
        ddp(share()).square().mean().backward()
        optimizer.step()
    return [p.detach() for p in model.parameters()]


def share() -> Tensor:
    whole = torch.linspace(-1, 1, EXAMPLES * SIZES[0]).view(EXAMPLES, -1)
    return whole.chunk(dist.get_world_size())[dist.get_rank()]


def redundancy(K: int = 4) -> Mapping[str, tuple[list[Tensor], list[int], dict[str, int]]]:
    """By "ours" and "torch's": rank 0's parameters, the bytes of the optimizer state by rank, and the bytes of all
    collectives of rank 0 by kind."""
    found = {}
    for name, program in (("ours", ours), ("torch's", torchs)):
        result = run(program, ranks=K, on="dgx-a100")
        kinds = {kind: count.nbytes for (rank, kind), count in result.trace.counts().items() if rank == 0}
        found[name] = result.values[0], [memory.peaks["optimizer state"] for memory in result.memory], kinds
    return found


def redundancy_table(K: int = 4) -> Table:
    """`redundancy` as it is printed, in bytes for each parameter."""
    found = redundancy(K)
    numbers = sum(p.numel() for p in found["ours"][0])
    kinds = ("all_reduce", "reduce_scatter", "all_gather", "broadcast")
    rows = [
        [name, *(f"{n / numbers:.2f}" for n in state), *(f"{sent.get(kind, 0) / numbers:.1f}" for kind in kinds)]
        for name, (_, state, sent) in found.items()
    ]
    head = ["stage 1", *(f"state, rank {r}" for r in range(K)), *(kind.replace("_", "-") for kind in kinds)]
    told = "Adam's state on each rank and what collectives carry (4.0 of the broadcasts: before the first step)"
    return Table(f"{told}, bytes for each of {numbers:,} parameters, {STEPS} steps", head, rows)
