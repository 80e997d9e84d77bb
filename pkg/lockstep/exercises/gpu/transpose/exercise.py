"""A transpose through a tile in shared memory: rows in, rows out, and no two lanes in a bank."""

from typing import Any

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.exercises.gpu.launches import (
    GLOBAL_BYTES,
    SECTORS,
    SHARED_REQUESTS,
    empty,
    kernel,
    launches,
    quarters,
    without_conflicts,
)

TILE = 32


def shape(case: Case) -> tuple[int, int]:
    return case.settings["rows"], case.settings["columns"]


def source(case: Case) -> Any:
    return quarters(case, 1, 2**20, *shape(case))


def in_rows(case: Case, items: int) -> int:
    """Pieces of so many neighbours that the rows of both matrices consist of."""
    rows, columns = shape(case)
    return rows * -(-columns // items) + columns * -(-rows // items)


EXERCISE = kernel(
    number=4,
    title="A transpose that wastes nothing",
    points=3,
    minutes=25,
    parameters="source, target",
    reference="lockstep.simt.kernels:transpose",
    cases=launches(
        "a matrix of {rows} x {columns}", "rows columns", (64, 96), (40, 70), (32, 32), (70, 33), (1, 45), (45, 1)
    ),
    call=lambda case: (
        (-(-shape(case)[1] // TILE), -(-shape(case)[0] // TILE)),
        (TILE, TILE),
        (source(case), empty(*shape(case)[::-1])),
    ),
    wanted=lambda case: source(case).T.copy(),
    of="a transpose through a tile",
    budgets=(
        Budget(GLOBAL_BYTES, lambda case: 8 * source(case).size, "8·rows·columns", at_least=1,
               advice="Read each element once, and write it once."),
        Budget(SECTORS, lambda case: in_rows(case, 8), at_most=1.6,
               advice="The 32 lanes of a warp must read neighbours, and write neighbours."),
        Budget(SHARED_REQUESTS, lambda case: in_rows(case, 32), at_most=None, at_least=1),
        without_conflicts(1.1),
    ),
)  # fmt: skip
