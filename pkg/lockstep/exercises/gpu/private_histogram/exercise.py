"""A histogram whose blocks count in shared memory first: judged by what goes to global memory."""

import numpy as np

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.checks.exercise import Costs
from lockstep.exercises.gpu.asides import total
from lockstep.exercises.gpu.launches import ATOMICS, REQUESTS, SECTORS, Call, kernel, rows, sizes

BINS, THREADS = 64, 128


def call(case: Case) -> Call:
    """Half of the values are one number, as in an image with much sky."""
    n, blocks = sizes(case)
    random = np.random.default_rng(case.seed % 2**32)
    values = np.where(random.random(n) < 0.5, BINS - 1, random.integers(0, BINS, n)).astype(np.int32)
    return (blocks,), (THREADS,), (values, np.zeros(BINS, np.int32))


def requests(case: Case) -> int:
    """Each value once, and each block's counters once, by warps."""
    return sizes(case, 32)[0] + BINS // 32 * sizes(case)[1]


EXERCISE = kernel(
    number=8, core=False, title="A histogram of one's own", points=3, minutes=20, parameters="values, counts",
    reference="lockstep.simt.kernels:private_histogram",
    cases=rows("n = {n} on a grid of {blocks} x 128 threads", "n blocks", (2000, 2), (5001, 1), (512, 4), (100, 2)),
    call=call, wanted=lambda values, counts: np.bincount(values, minlength=BINS).astype(np.int32), aside=total,
    costs=Costs(algorithm="a histogram for each block", budgets=(
        Budget(REQUESTS, requests, at_most=1.25,
               advice="Read each value once, and count in shared memory. Then 64 threads hand over one counter each."),
        Budget(ATOMICS, lambda case: sizes(case)[0] + BINS * sizes(case)[1],
               advice="One for each value, and one for each counter of a block."),
        Budget(SECTORS, lambda case: sizes(case, 8)[0] + BINS // 8 * sizes(case)[1], at_most=1.7,
               advice="Neighbouring threads must read neighbouring values at the same time."),
    )),
)  # fmt: skip
