"""blocked_matmul: the misses of a small cache are counted, by running the function in Python on traced arrays."""

from collections.abc import Sequence
from itertools import pairwise

from lockstep.checks.arrays import Arrays, Call
from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Evidence, Rule
from lockstep.checks.exercise import Comparison, Costs, Feedback
from lockstep.checks.observation import Seen
from lockstep.cpu.memory_traffic import Cache
from lockstep.cpu.tracing import Memory
from lockstep.exercises.cpu.arrays import one_case, quarters, wide
from lockstep.exercises.cpu.cache_misses import draw_misses
from lockstep.exercises.cpu.kernels import COMPILED, compiled, drawn, ones_there, returned
from lockstep.exercises.cpu.observed_call import Kernel, misses

# n, p, m, block. The order of accesses is compared in those of one shape, the misses are counted in the last one: the
# cache has 32 lines of 8 float64, and three blocks of 8 x 8 take 24 of them.
ALIKE = tuple((15, 14, 17, block) for block in (4, 5, 12, 13))
SHAPES = ((5, 7, 3, 2), (1, 1, 1, 4), (4, 6, 8, 16), *ALIKE, (24, 40, 40, 8))


def calls(case: Case) -> list[Call]:
    """A and B by turns hold what only float64 does; their product is exact in any order. Of two pairs, one matrix is
    negative: no sum has both signs, so that the error of float32 is small relative to it."""
    kinds = ((quarters, wide), (wide, quarters))
    rows = [(i, *kinds[i % 2], *shape) for i, shape in enumerate(SHAPES)]
    pairs = [(A(case, 2 * i, n, p), B(case, 2 * i + 1, p, m), block) for i, A, B, n, p, m, block in rows]
    signs = [(-1, 1), (1, -1), *[(1, 1)] * (len(SHAPES) - 2)]
    return [
        (a * abs(A).astype("float64"), b * abs(B).astype("float64"), block)
        for (a, b), (A, B, block) in zip(signs, pairs, strict=True)
    ]


def blocks(n: int, p: int, m: int, block: int) -> float:
    """What a blocked product misses: each element of B and C comes once for each block that needs it, and every array
    comes at least once. Walking along rows without blocks misses n·p·m/8 and more: three times as often."""
    return (2 * n * p * m / block + n * p + p * m + n * m) / 8


MISSES = Measure(
    lambda seen: seen.returned[0][-1]["missed"], "time", "the largest misses a cache of 2 KiB {}", "missed {}", "misses"
)
ADVICE = (
    "Twice as many are allowed. A line that is fetched holds 8 elements of a row, and is soon gone again. Let the "
    "innermost loop walk along rows, and the inner three loops stay within a block of A, of B and of C: then each "
    "element is used as often as a block is wide."
)


def advice(seen: Seen) -> str:
    """And which array has the most misses beyond what blocks need of it, in whatever order they come."""
    missed, (n, p, m, block) = seen.returned[0][-1]["misses"], SHAPES[-1]
    sizes = {"A": n * p, "B": p * m, "C and others": n * m}
    need = {name: (n * p * m / block + size) / 8 for name, size in sizes.items()}
    most = max(need, key=lambda name: missed[name] - need[name])
    ignores = f" It {SAME.format(ignored=one)}" if (one := ignored(seen.returned[0])) else ""
    return (
        f"{ADVICE} {missed[most]:,} of your misses are of {most}, where blocks need {need[most]:,.0f} at most.{ignores}"
    )


SAME = "does the same with {ignored}: it is the caller who says how wide a block is."


def ignored(rows: Sequence[Evidence]) -> str:
    """Two blocks of different width with which it does the same to the same matrices; empty if there are none."""
    tried = [(row["order"], shape[-1]) for row, shape in zip(rows, SHAPES, strict=True) if shape in ALIKE]
    found = (f"block = {a} as with block = {b}" for (one, a), (other, b) in pairwise(tried) if one == other)
    return next(found, "")


EXERCISE = compiled(
    Kernel(
        ("A", "B", "block"),
        returned,
        facts=lambda memory: misses(memory, Cache(2048)),
        memory=lambda arguments: Memory(),
    ),
    Arrays(
        calls,
        lambda A, B, block: A @ B,
        told="A of {0.shape}, B of {1.shape} and block = {2}",
        asked="an array",
        aside=ones_there(lambda A, B, block: int(A.shape[1])),
    ),
    rules=(*COMPILED, Rule("ignores-block", lambda e: e["ignored"], f"But it {SAME}")),
    judged_calls=lambda rows: [rows[-1] | {"ignored": ignored(rows)}],
    number=3,
    title="Blocked matrix product",
    points=4,
    minutes=30,
    reference="lockstep.cpu.matmul:blocked_matmul",
    cases=one_case("eight pairs of matrices"),
    costs=Costs(
        algorithm="a blocked product",
        budgets=(Budget(MISSES, lambda case: blocks(*SHAPES[-1]), at_most=2, advice=advice),),
    ),
    comparison=Comparison(footprint=lambda seen: seen.returned[0][-1]["misses"]),
    feedback=Feedback(picture=drawn("misses", lambda e: draw_misses(e["misses"], 2 * blocks(*SHAPES[-1])))),
)
