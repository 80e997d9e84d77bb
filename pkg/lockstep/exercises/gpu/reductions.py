"""The three sums of a vector: the same additions, by other threads. A block has 128."""

from __future__ import annotations

from functools import partial

import numpy as np

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.exercises.gpu.launches import ATOMICS, REQUESTS, Call, kernel, quarters, rows, sizes

WARPS = 4  # of a block


def blocks(case: Case) -> int:
    return sizes(case)[1]


def atomics(each: int) -> Budget:
    """So many for each block."""
    return Budget(ATOMICS, lambda case: each * blocks(case), advice="Those on one address wait for each other.")


def reads(adding: int) -> Budget:
    """Each value once, and so many requests of a block to out[0]."""
    return Budget(REQUESTS, lambda case: sizes(case, 32)[0] + adding * blocks(case), at_most=1.5,
                  advice="Let each thread read its own element, so that a warp reads 32 at once.")  # fmt: skip


def call(case: Case) -> Call:
    n, blocks = sizes(case)
    return (blocks,), (32 * WARPS,), (quarters(case, 1, 2**12, n), np.zeros(1, np.float32))


reduction = partial(
    kernel,
    points=2,
    parameters="values, out",
    cases=rows(
        "n = {n} on a grid of {blocks} x 128 threads", "n blocks", (500, 4), (256, 2), (128, 1), (257, 3), (1, 1)
    ),
    call=call,
    wanted=lambda values, out: values.sum(keepdims=True),
)
