"""``transpose`` and ``tiled_matmul``: what a tile in shared memory saves."""

from __future__ import annotations

from typing import Any

import numpy as np

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.gpu.launches import (
    UNTOUCHED,
    Known,
    Launched,
    Ran,
    case_of,
    draw,
    examined,
    hazards,
    picture,
    recognise,
    right,
    untouched,
    watch_launch,
)  # fmt: skip
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen

TRANSPOSE_POINTS, MATMUL_POINTS = 3, 4
WIDE, TILE = 32, 16


def _matrix_cases(ranks: int, seed: int) -> list[Case]:
    sizes = ((32, 32), (64, 96), (40, 70))
    return [case_of(seed, f"a matrix of {r} x {c}", rows=r, columns=c) for r, c in sizes]


def _source(case: Case) -> Any:
    return draw(case, case.settings["rows"], case.settings["columns"])


def _transpose_call(case: Case, rank: int) -> tuple[Launched, ...]:
    source = _source(case)
    grid = (-(-source.shape[1] // WIDE), -(-source.shape[0] // WIDE))
    return ((grid, (WIDE, WIDE), (source, np.full(source.shape[::-1], UNTOUCHED, np.float32))),)


def _as_blocks(case: Case, turn_blocks: bool, turn_tiles: bool) -> Any:
    """The target if blocks are exchanged or not, and tiles turned or not; cut to the target's shape."""
    source = _source(case)
    rows, columns = source.shape
    across, down = -(-columns // WIDE), -(-rows // WIDE)
    size = WIDE * max(across, down)
    padded = np.full((size, size), np.nan, np.float32)
    padded[:rows, :columns] = source
    target = np.full((size, size), UNTOUCHED, np.float32)
    for i in range(down):
        for j in range(across):
            tile = padded[i * WIDE : (i + 1) * WIDE, j * WIDE : (j + 1) * WIDE]
            r, c = (j, i) if turn_blocks else (i, j)
            target[r * WIDE : (r + 1) * WIDE, c * WIDE : (c + 1) * WIDE] = tile.T if turn_tiles else tile
    return target[:columns, :rows]


def _known_transposes(ran: Ran) -> Fault | None:
    source = _source(ran.case)
    if not ran.counts["shared_requests"] and np.array_equal(ran.arrays[1], _as_blocks(ran.case, True, False)):
        told = "each block is copied to its new place, but nothing is turned: row and column change places, too."
        return Fault("not-turned", f"With {ran.case}: {told}")
    rows, columns = source.shape
    half = np.full((columns, rows), UNTOUCHED, np.float32)
    half[:rows, :columns] = source.T[:rows, :columns]
    known = [
        Known("guard-of-the-source", "the elements of the target beyond the shape of the source are missing: the "
                                     "target "
              "has the shape (columns, rows), so its guard is another one.", half),
        Known("blocks-not-exchanged", "each tile is turned in its place. The tile itself belongs elsewhere: block "
                                      "(i, j) "
              "of the source is block (j, i) of the target.", _as_blocks(ran.case, False, True)),
        Known("not-turned", "the tiles are where they belong, but nothing was turned: read the tile by columns.",
              _as_blocks(ran.case, True, False)),
    ]  # fmt: skip
    return recognise(ran, 1, source.T, known)


def _transposed(ran: Ran) -> Fault | None:
    return untouched(ran, 0, _source(ran.case)) or right(ran, 1, _source(ran.case).T)


def _transpose_cost(seen: Seen) -> list[Fault]:
    ran = Ran.of(seen)
    rows, columns = seen.case.settings["rows"], seen.case.settings["columns"]
    ideal = rows * -(-columns // 8) + columns * -(-rows // 8)
    if ran.counts["sectors"] > 1.6 * ideal:
        told = (
            f"With {seen.case}: {ran.counts['sectors']:,} sectors are moved, and about {ideal:,} hold the two "
            f"matrices. "
            "Somewhere a warp's lanes walk down a column of global memory. Read rows and write rows; turn in shared "
            "memory."
        )
        return [Fault("uncoalesced", told)]
    conflicts = ran.counts["wavefronts"] / max(1, ran.counts["shared_requests"])
    if conflicts > 1.1:
        told = (
            f"With {seen.case}: {conflicts:.1f} wavefronts for each access of shared memory. A column of a tile of "
            f"32 words a "
            "row lies in one bank: make the rows 33 words wide, so that each begins one bank further on."
        )
        return [Fault("bank-conflicts", told)]
    return []


def _judge_transpose(observation: Observation) -> list[Finding]:
    examine = examined(_known_transposes, hazards, _transposed)
    return mark(observation, TRANSPOSE_POINTS, examine, _transpose_cost)


def _product_cases(ranks: int, seed: int) -> list[Case]:
    sizes = ((16, 16, 16), (32, 48, 16), (20, 37, 25))
    return [case_of(seed, f"A of {m} x {k} and B of {k} x {n}", m=m, k=k, n=n) for m, k, n in sizes]


def _factors(case: Case) -> tuple[Any, Any]:
    s = case.settings
    return draw(case, s["m"], s["k"]), draw(case, s["k"], s["n"], least=-7, most=7)


def _product_call(case: Case, rank: int) -> tuple[Launched, ...]:
    A, B = _factors(case)
    C = np.full((A.shape[0], B.shape[1]), UNTOUCHED, np.float32)
    grid = (-(-B.shape[1] // TILE), -(-A.shape[0] // TILE))
    return ((grid, (TILE, TILE), (A, B, C)),)


def _by_transposed_tiles(A: Any, B: Any) -> Any:
    """Each tile of A times the transpose of the tile of B."""
    (m, k), n = A.shape, B.shape[1]
    M, K, N = (-(-x // TILE) * TILE for x in (m, k, n))
    a, b = np.zeros((M, K), np.float32), np.zeros((K, N), np.float32)
    a[:m, :k], b[:k, :n] = A, B
    C = np.zeros((M, N), np.float32)
    for j in range(0, N, TILE):
        for step in range(0, K, TILE):
            C[:, j : j + TILE] += a[:, step : step + TILE] @ b[step : step + TILE, j : j + TILE].T
    return C[:m, :n]


def _known_products(ran: Ran) -> Fault | None:
    A, B = _factors(ran.case)
    whole = A.shape[1] // TILE * TILE
    rest = "columns of A beyond the last whole tile are left out: K is no multiple of 16, so round the tiles up."
    first = "only the first tile of A's row counts: step through all of K, tile by tile."
    known = [
        Known("forgets-the-rest", first, A[:, :TILE] @ B[:TILE]),
        Known("forgets-the-rest", rest, A[:, :whole] @ B[:whole]),
        Known("multiplies-by-the-transpose", "this is A times the transposed tiles of B: a thread runs down a "
                                             "*column* of "
              "B's tile, b[k, tx].", _by_transposed_tiles(A, B)),
    ]  # fmt: skip
    return recognise(ran, 2, A @ B, known)


def _product(ran: Ran) -> Fault | None:
    A, B = _factors(ran.case)
    return untouched(ran, 0, A) or untouched(ran, 1, B) or right(ran, 2, A @ B)


def _product_cost(seen: Seen) -> list[Fault]:
    """From global memory: every element of A once for each column of tiles, every element of B for each row of them."""
    s, ran = seen.case.settings, Ran.of(seen)
    ideal = 4 * (s["m"] * s["k"] * -(-s["n"] // TILE) + s["k"] * s["n"] * -(-s["m"] // TILE) + s["m"] * s["n"])
    moved = ran.counts["global_bytes"]
    if moved > 5 * ideal:
        told = (
            f"With {seen.case}: your threads read and write {moved:,} bytes of global memory, and {ideal:,} are "
            f"enough. "
            "Bring tiles into shared memory, and read each element 16 times from there."
        )
        return [Fault("no-reuse", told)]
    if moved > 1.4 * ideal:
        told = (
            f"With {seen.case}: your threads read and write {moved:,} bytes of global memory, and {ideal:,} are "
            f"enough. "
            "Keep the sum in a variable, and write it to C once, at the end."
        )
        return [Fault("sum-in-global-memory", told)]
    conflicts = ran.counts["wavefronts"] / max(1, ran.counts["shared_requests"])
    if conflicts > 1.5:
        told = f"With {seen.case}: {conflicts:.1f} wavefronts for each access of shared memory: lanes meet in banks."
        return [Fault("bank-conflicts", told)]
    return []


def _judge_product(observation: Observation) -> list[Finding]:
    return mark(observation, MATMUL_POINTS, examined(_known_products, hazards, _product), _product_cost)


TRANSPOSE = Exercise(
    id="gpu.transpose",
    title="A transpose that wastes nothing",
    points=TRANSPOSE_POINTS,
    minutes=25,
    parameters="source, target",
    cases=_matrix_cases,
    inputs=_transpose_call,
    judge=_judge_transpose,
    reference="lockstep.simt.kernels:transpose",
    worlds=(1,),
    pure=True,
    watch=watch_launch,
    picture=picture,
)
TILED_MATMUL = Exercise(
    id="gpu.tiled_matmul",
    title="Matrix product by tiles",
    points=MATMUL_POINTS,
    minutes=30,
    parameters="A, B, C",
    cases=_product_cases,
    inputs=_product_call,
    judge=_judge_product,
    reference="lockstep.simt.kernels:tiled_matmul",
    worlds=(1,),
    pure=True,
    watch=watch_launch,
    picture=picture,
)
