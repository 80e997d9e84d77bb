"""A matrix product by tiles: every element of A comes from global memory once for each column of tiles."""

from typing import Any

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.exercises.gpu.launches import (
    GLOBAL_BYTES,
    REQUESTS,
    SECTORS,
    empty,
    kernel,
    launches,
    quarters,
    without_conflicts,
)

TILE = 16


def factors(case: Case) -> tuple[Any, Any]:
    """Their products need more digits than float16 has, in A or in B by turns."""
    m, k, n = sizes(case)
    wide, narrow = (2**10, 2**3) if k % 2 else (2**3, 2**10)
    return quarters(case, 1, wide, m, k), quarters(case, 2, narrow, k, n)


def sizes(case: Case) -> tuple[int, int, int]:
    return case.settings["m"], case.settings["k"], case.settings["n"]


def tiles(length: int) -> int:
    return -(-length // TILE)


def in_pieces(case: Case, items: int) -> int:
    """Pieces of so many neighbours of a row: A for each column of tiles, B for each row of tiles, and C once."""
    m, k, n = sizes(case)
    return m * -(-k // items) * tiles(n) + k * -(-n // items) * tiles(m) + m * -(-n // items)


def requests(case: Case) -> int:
    """Two tiles in each step and one of C, by blocks of 8 warps."""
    m, k, n = sizes(case)
    return 8 * tiles(m) * tiles(n) * (2 * tiles(k) + 1)


EXERCISE = kernel(
    number=5,
    title="Matrix product by tiles",
    points=4,
    minutes=30,
    parameters="A, B, C",
    reference="lockstep.simt.kernels:tiled_matmul",
    cases=launches(
        "A of {m} x {k} and B of {k} x {n}", "m k n", (20, 37, 25), (32, 48, 16), (16, 16, 16), (17, 5, 33), (1, 1, 1)
    ),
    call=lambda case: (
        (tiles(case.settings["n"]), tiles(case.settings["m"])),
        (TILE, TILE),
        (*factors(case), empty(case.settings["m"], case.settings["n"])),
    ),
    wanted=lambda case: factors(case)[0] @ factors(case)[1],
    of="a product by tiles",
    budgets=(
        Budget(GLOBAL_BYTES, lambda case: 4 * in_pieces(case, 1), at_least=1,
               advice="What a block needs of A and B comes into shared memory once; C is written once."),
        Budget(REQUESTS, requests, advice="Let each thread bring one element of each tile."),
        Budget(SECTORS, lambda case: in_pieces(case, 8), at_most=2,
               advice="Neighbouring threads must read neighbouring elements."),
        without_conflicts(1.5),
    ),
)  # fmt: skip
