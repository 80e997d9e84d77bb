"""A matrix product by tiles: every element of A comes from global memory once for each column of tiles."""

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.checks.exercise import Costs
from lockstep.exercises.gpu import launches
from lockstep.exercises.gpu.asides import factors_of_ones, products
from lockstep.exercises.gpu.launches import Call, empty, kernel, quarters, sizes

TILE = 16


def call(case: Case) -> Call:
    """Products of such factors need more digits than float16 has, in A or in B by turns."""
    (m, k, n), (rows, _, columns) = sizes(case), sizes(case, TILE)
    wide, narrow = (2**10, 2**3) if k % 2 else (2**3, 2**10)
    return (columns, rows), (TILE, TILE), (quarters(case, 1, wide, m, k), quarters(case, 2, narrow, k, n), empty(m, n))


def in_pieces(case: Case, items: int) -> int:
    """Pieces of so many neighbours of a row: A for each column of tiles, B for each row of tiles, and C once."""
    (m, k, _), (_, of_k, of_n), (rows, _, columns) = sizes(case), sizes(case, items), sizes(case, TILE)
    return m * of_k * columns + k * of_n * rows + m * of_n


def requests(case: Case) -> int:
    """Two tiles in each step and one of C, by blocks of 8 warps."""
    rows, steps, columns = sizes(case, TILE)
    return 8 * rows * columns * (2 * steps + 1)


EXERCISE = kernel(
    number=5, title="Matrix product by tiles", points=4, minutes=30, parameters="A, B, C",
    reference="lockstep.simt.kernels:tiled_matmul", cases=launches.rows(
        "A of {m} x {k} and B of {k} x {n}", "m k n", (20, 37, 25), (32, 112, 16), (16, 16, 16), (17, 5, 33), (1, 1, 1)
    ), call=call, wanted=lambda A, B, C: A @ B, aside=products, probes=factors_of_ones,
    costs=Costs(algorithm="a product by tiles", budgets=(
        Budget(launches.GLOBAL_BYTES, lambda case: 4 * in_pieces(case, 1), at_least=1,
               advice="What a block needs of A and B comes into shared memory once; C is written once."),
        Budget(launches.REQUESTS, requests, advice="Let each thread bring one element of each tile."),
        Budget(launches.SECTORS, lambda case: in_pieces(case, 8), at_most=2,
               advice="Neighbouring threads must read neighbouring elements."),
        launches.without_conflicts(1.5),
    )),
)  # fmt: skip
