"""A transpose through a tile in shared memory: rows in, rows out, and no two lanes in a bank."""

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.checks.exercise import Costs
from lockstep.exercises.gpu import launches
from lockstep.exercises.gpu.asides import origin
from lockstep.exercises.gpu.launches import Call, empty, kernel, quarters, sizes

TILE = 32


def call(case: Case) -> Call:
    rows, columns = sizes(case)
    return sizes(case, TILE)[::-1], (TILE, TILE), (quarters(case, 1, 2**20, rows, columns), empty(columns, rows))


def in_rows(case: Case, items: int) -> int:
    """Pieces of so many neighbours that the rows of both matrices consist of."""
    (rows, columns), (pieces_of_a_column, pieces_of_a_row) = sizes(case), sizes(case, items)
    return rows * pieces_of_a_row + columns * pieces_of_a_column


EXERCISE = kernel(
    number=4, title="A transpose that wastes nothing", points=3, minutes=25, parameters="source, target",
    reference="lockstep.simt.kernels:transpose", cases=launches.rows(
        "a matrix of {rows} x {columns}", "rows columns", (64, 96), (40, 70), (32, 32), (70, 33), (1, 45), (45, 1)
    ), call=call, wanted=lambda source, target: source.T, aside=origin,
    costs=Costs(algorithm="a transpose through a tile", budgets=(
        Budget(launches.GLOBAL_BYTES, lambda case: 4 * in_rows(case, 1), "8·rows·columns", at_least=1,
               advice="Read each element once, and write it once."),
        Budget(launches.SECTORS, lambda case: in_rows(case, 8), at_most=1.6,
               advice="The 32 lanes of a warp must read neighbours, and write neighbours."),
        Budget(launches.SHARED_REQUESTS, lambda case: in_rows(case, 32), at_most=None, at_least=1),
        launches.without_conflicts(1.1),
    )),
)  # fmt: skip
