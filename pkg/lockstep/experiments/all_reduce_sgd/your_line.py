"""All-reduce SGD and a sampler with one decision left open: the learner's lines of lesson 05 run here.

``data_parallel/sgd.py`` and ``data_parallel/sampler.py`` have the complete algorithms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.data_parallel.sgd import Gradient, Rate
from lockstep.tables import Table
from lockstep.worlds import run

Update = Callable[[Tensor, Tensor, int, float], Tensor]  # (w, G, M, alpha) -> the next w
Share = Callable[[list[int], int, int], list[int]]  # (order, rank, ranks) -> this rank's part of the order


def driven_sgd(
    gradient: Gradient, w: Tensor, batches: Iterable[tuple[Tensor, Tensor]], alpha: Rate, update: Update
) -> Tensor:
    M = dist.get_world_size()  # (1) every rank runs this function, (2) with the same w
    for t, (x, y) in enumerate(batches, start=1):  # (3) (4)
        G = gradient(w, x, y)  # (5)
        dist.all_reduce(G)  # (6)
        w = update(w, G, M, alpha(t))  # (7)
    return w  # (8)


def driven_epochs(examples: int, ranks: int, epochs: int, share: Share) -> Table:
    """What each rank gets of the examples 0, 1, 2 ... in each epoch: all of them shuffle with the epoch as their seed,
    and ``share`` cuts. The last column counts, for each number of times, how many examples are seen so often."""

    def shares() -> list[list[int]]:
        orders = [torch.randperm(examples, generator=torch.Generator().manual_seed(epoch)) for epoch in range(epochs)]
        return [list(share(order.tolist(), dist.get_rank(), ranks)) for order in orders]

    dealt = list(zip(*run(shares, ranks=ranks, on="commodity-10g").values, strict=True))
    rows = [
        [str(epoch), *(" ".join(map(str, own)) for own in of), _seen(of, examples)] for epoch, of in enumerate(dealt)
    ]
    head = ["epoch", *(f"rank {rank}" for rank in range(ranks)), "seen"]
    return Table(f"{examples} examples on {ranks} ranks, by your line", head, rows)


def _seen(shares: Iterable[list[int]], examples: int) -> str:
    """As in "10 once" or "1 never, 9 once"."""
    times = Counter(example for own in shares for example in own)
    often = Counter(times[example] for example in range(examples))
    called = {0: "never", 1: "once", 2: "twice"}
    return ", ".join(f"{count} {called.get(n, f'{n} times')}" for n, count in sorted(often.items()))
