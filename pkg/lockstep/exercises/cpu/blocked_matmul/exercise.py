"""blocked_matmul: the misses of a small cache are counted, by running the function in Python on traced arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from lockstep.checks.case import Case
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.cpu.cache import Cache
from lockstep.cpu.observed import Kernel, misses
from lockstep.cpu.traced import Memory
from lockstep.exercises.cpu import pictures
from lockstep.exercises.cpu.arrays import one_case, quarters, wide
from lockstep.exercises.cpu.kernels import Values, compiled_exercise, interpreted

# n, p, m, block. The order of accesses is compared in the two of one shape, the misses are counted in the last one.
SHAPES = ((5, 7, 3, 2), (1, 1, 1, 4), (4, 6, 8, 16), (9, 13, 17, 4), (9, 13, 17, 5), (24, 40, 40, 8))
CACHE = 2048  # bytes: 32 lines of 64; three blocks of 8 x 8 float64 take 24
ELEMENTS = 8  # of float64 in a line


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    """A and B by turns hold what only float64 does; their product is exact in any order."""
    kinds = [(wide, quarters) if i % 2 else (quarters, wide) for i in range(len(SHAPES))]
    rows = enumerate(zip(SHAPES, kinds, strict=True))
    return tuple(
        (A(case, 2 * i, n, p).astype("float64"), B(case, 2 * i + 1, p, m).astype("float64"), block)
        for i, ((n, p, m, block), (A, B)) in rows
    )


def result(returned: Any, arguments: tuple[Any, ...]) -> Any:
    """``plain`` makes a list of an array, and C is to keep its dtype."""
    kept = isinstance(returned, np.ndarray) and returned.dtype.kind in "fi"
    return torch.tensor(np.asarray(returned)) if kept else plain(returned)


def budget(n: int, p: int, m: int, block: int) -> float:
    """Twice what a blocked product misses: each element of B and C comes once for each block that needs it, and every
    array comes at least once. Walking along rows without blocks misses n·p·m/8 and more: three times as often."""
    return 2 * (2 * n * p * m / block + n * p + p * m + n * m) / ELEMENTS


def economise(seen: Seen) -> Sequence[Fault]:
    *_, one, other, evidence = seen.returned[0]
    if fault := interpreted(evidence):
        return [fault]
    n, p, m, block = SHAPES[-1]
    found, most = evidence["misses"], budget(n, p, m, block)
    total, products = sum(found.values()), n * p * m
    if total <= most:
        return [Fault("ignores-block", IGNORED)] if one["order"] == other["order"] else []
    by_array = ", ".join(f"{name} {number:,}" for name, number in found.items())
    begin = (
        f"But A of {n} x {p} times B of {p} x {m} with block = {block} misses a cache of {CACHE // 1024} KiB {total:,} "
        f"times ({by_array}); {most:,.0f} are allowed. "
    )
    if total > 0.5 * products:
        return [Fault("walks-columns", f"{begin}That is about one for each of the {products:,} products. {COLUMNS}")]
    return [Fault("not-blocked", f"{begin}{BLOCKS}")]


IGNORED = "But it does the same with block = 4 and with block = 5: it is the caller who says how wide a block is."
COLUMNS = (
    "So a line is gone before its next element is needed: as it is where the innermost loop walks down a column, each "
    "element of which lies in another line. Let j be the innermost loop, and use blocks."
)
BLOCKS = (
    f"A line holds {ELEMENTS} elements, and serves some of them; but it is gone before it is needed again. Let the "
    "inner three loops stay within a block of A, of B and of C: then each element is used as often as a block is wide."
)

EXERCISE = compiled_exercise(
    Kernel(
        ("A", "B", "block"),
        result,
        facts=lambda memory: misses(memory, Cache(CACHE)),
        memory=lambda arguments: Memory(),
    ),
    Values(
        begin=lambda A, B, block: f"With A of {A.shape}, B of {B.shape} and block = {block}",
        wanted=lambda A, B, block: A @ B,
        size=lambda A, B, block: abs(A) @ abs(B),
        asked="C, an array of shape (n, m),",
        reads=("A", "B"),
    ),
    number=3,
    title="Blocked matrix product",
    points=4,
    minutes=30,
    parameters="A, B, block",
    reference="lockstep.cpu.matmul:blocked_matmul",
    cases=one_case("six pairs of matrices"),
    inputs=inputs,
    economise=economise,
    picture=lambda seen: pictures.misses(seen, budget(*SHAPES[-1])),
)
