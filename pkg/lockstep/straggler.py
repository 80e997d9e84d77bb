"""A straggler of real processes: a rank that has more to compute than the others.

On the virtual cluster a slow rank is said (``machines.Cluster.with_rank``). A core of this machine is as fast as it is.
But a rank that does k times the work is late as one that is k times slower:

    loss = step(batch)                          # 6·N·B FLOP on every rank, say
    if dist.get_rank() == 3:
        burn((k - 1) * 6 * N * B)               # as much again, k - 1 times
    dist.all_reduce(gradient)                   # all wait for rank 3

It is work and no sleep: a rank that sleeps leaves its core to the others, and they would be faster for it. ``burn``
runs in every world. The virtual cluster charges for it what it charges for any matrix product.
"""

from __future__ import annotations

import math

import torch

from lockstep.errors import UsageError

SIZE = 256  # rows and columns: three such matrices fit into the cache of a core, so that only computing counts
PRODUCT = 2 * SIZE**3  # FLOP
ROW = 2 * SIZE**2


def burn(flops: float, device: torch.device | str = "cpu") -> int:
    """Multiply float32 matrices on ``device`` for ``flops`` floating-point operations; how many they were: the number
    rounded to whole rows, 131,072 FLOP each. Nothing comes of it, and autograd does not see it.

    Raises UsageError for a number below zero."""
    if not 0 <= flops < math.inf:
        raise UsageError(f"There is no work of {flops} FLOP.", "Give a number from 0 on: burn(1e9).")
    products, rows = divmod(round(flops / ROW), SIZE)
    with torch.no_grad():
        a = torch.full((SIZE, SIZE), 1 / SIZE, dtype=torch.float32, device=device)  # its square is itself again
        for _ in range(products):
            torch.mm(a, a)
        if rows:
            torch.mm(a[:rows], a)
    return products * PRODUCT + rows * ROW
