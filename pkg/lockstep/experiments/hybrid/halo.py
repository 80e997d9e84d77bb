"""Domain decomposition of a field that the wind carries: what blocks of each shape send, and halos that last longer.

16 ranks, a field of 1,024 x 1,024 cells          a halo exchange before each step, or a wider one for several
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.cost.domain_decomposition import computed
from lockstep.domain_decomposition.advection import advect, kernel
from lockstep.domain_decomposition.halo_exchange import Blocks
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.worlds import run

Line = Callable[[int, int, int, int], int]

SIDE, STEPS, WIND = 1024, 8, (0.5, 0.25)
SHAPES = ((16, 1), (8, 2), (4, 4))
WIDTHS = (1, 2, 4, 8)
ON = "dgx-a100"


def transported(P: int, Q: int, side: int, width: int) -> Tensor:
    """Runs on each rank: its block after all steps."""
    blocks = Blocks(side, side, P, Q)
    block = blocks.part(field(side), dist.get_rank())
    return advect(block, blocks, kernel(*WIND, dtype=block.dtype), STEPS, width)


def field(side: int) -> Tensor:
    return torch.rand(1, side, side, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def simulated(P: int, Q: int, width: int) -> tuple[float, int, int]:
    """Seconds of all steps, and messages and cells that rank 0 sends."""
    result = run(timed, P, Q, width, ranks=P * Q, on=ON, fake=True)
    sent = result.trace.sent(0)
    return result.time, sent.number, sent.nbytes // 4


def timed(P: int, Q: int, width: int) -> None:
    blocks = Blocks(SIDE, SIDE, P, Q)
    block = torch.empty(1, SIDE // P, SIDE // Q)
    advect(block, blocks, torch.empty(3, 3), STEPS, width)


def apart(P: int, Q: int, width: int, side: int = 23) -> float:
    """The largest difference to the same field on one rank; P and Q need not divide ``side``."""
    blocks = Blocks(side, side, P, Q)
    whole = run(transported, 1, 1, side, 1, ranks=1, on=ON).values[0]
    values = run(transported, P, Q, side, width, ranks=P * Q, on=ON).values
    return max(float((value - blocks.part(whole, r)).abs().max()) for r, value in enumerate(values))


def shapes_table(line: Line) -> Table:
    rows = []
    for P, Q in counted(SHAPES, "Simulating", each=1.0):
        h, w = SIDE // P, SIDE // Q
        seconds, number, cells = simulated(P, Q, 1)
        rows.append(
            [
                f"{P} x {Q}",
                f"{h} x {w}",
                f"{line(h, w, P, Q):,}",
                f"{cells // STEPS:,}",
                str(number // STEPS),
                f"{seconds * 1e6:.0f} µs",
            ]
        )
    head = ["blocks", "cells of one", "sent, by your line", "by the trace", "messages", f"{STEPS} steps"]
    return Table(f"{SIDE:,} x {SIDE:,} cells on 16 simulated A100: what a rank sends in a step", head, rows)


def widths_table(P: int = 4, Q: int = 4) -> Table:
    rows = []
    for width in counted(WIDTHS, "Simulating", each=1.0):
        seconds, number, _ = simulated(P, Q, width)
        h, w = SIDE // P, SIDE // Q
        more = computed(h, w, width) * STEPS // width / (h * w * STEPS) - 1
        rows.append(
            [str(width), str(number), f"{100 * more:.1f} %", f"{seconds * 1e6:.0f} µs", f"{apart(2, 2, width):.0e}"]
        )
    head = [
        "width",
        "messages in all",
        "computed twice",
        f"{STEPS} steps",
        "23 x 23 cells on 2 x 2: apart from one rank",
    ]
    return Table(f"A wider halo: {P} x {Q} blocks", head, rows)
