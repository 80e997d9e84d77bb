"""``burn``: make a straggler among real processes, by giving one rank more computation than the others.

On the virtual cluster a slow rank is a parameter (``machines.Cluster.with_rank``). The speed of a real core cannot be
changed, but a rank with k times the work is as late as one that is k times slower:

    loss = step(batch)                          # 6·N·B FLOP on every rank, say
    if dist.get_rank() == 3:
        burn((k - 1) * 6 * N * B)               # k - 1 times as much again
    dist.all_reduce(gradient)                   # all wait for rank 3

It computes and does not sleep: a sleeping rank would leave its core to the others and speed them up. ``burn`` works in
every world; on the virtual cluster it costs what any matrix product costs.
"""

from __future__ import annotations

import math

import torch

from lockstep.errors import UsageError

SIZE = 256  # rows and columns: three such matrices fit into a core's cache, so that it is compute-bound
PRODUCT = 2 * SIZE**3  # FLOP
ROW = 2 * SIZE**2


def burn(flops: float, device: torch.device | str = "cpu") -> int:
    """Multiply float32 matrices on ``device`` for about ``flops`` floating-point operations, and return the exact
    number: ``flops`` rounded to whole matrix rows of 131,072 FLOP. The result is discarded, and autograd records
    nothing.

    Raises UsageError for a negative or infinite number."""
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
