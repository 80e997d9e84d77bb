"""``blocked_matmul``: the misses of a small cache are counted, by running the function in Python on traced arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from lockstep.checks.case import Case
from lockstep.checks.cpu import compiled
from lockstep.checks.cpu.arrays import Array, one_case, whole_numbers
from lockstep.checks.cpu.trial import trial, unfit
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen

POINTS = 4
SHAPES = ((5, 7, 3, 2), (1, 1, 1, 4), (4, 6, 8, 16), (9, 13, 17, 4), (24, 40, 40, 8))  # n, p, m, block
CACHE = 2048  # bytes: 32 lines of 64; three blocks of 8 x 8 float64 take 24
ELEMENTS = 8  # of float64 in a line


def _calls(case: Case, rank: int) -> tuple[Any, ...]:
    def matrix(number: int, rows: int, columns: int) -> Array:
        return whole_numbers(case, number, rows, columns, dtype="float64")

    return tuple((matrix(2 * i, n, p), matrix(2 * i + 1, p, m), b) for i, (n, p, m, b) in enumerate(SHAPES))


def _watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, Any]:
    """First in Python, where an index outside of an array is an error; then compiled, where it would be a crash."""
    how = compiled.compiled(fn)
    traced = _trace(fn, *arguments)
    if traced["problem"]:
        return {**how, **traced, "C": None}
    returned, problem = compiled.attempt(fn, *arguments)
    C = torch.from_numpy(np.array(returned)) if isinstance(returned, np.ndarray) else None
    return {**how, **traced, "C": C, "uncompilable": problem}


def _trace(fn: Callable[..., Any], A: Array, B: Array, block: int) -> dict[str, Any]:
    """How often each array was missed by the cache, and whether the function stayed inside its arrays."""
    from lockstep.cpu.cache import Cache
    from lockstep.cpu.traced import Memory

    memory, cache = Memory(), Cache(CACHE)
    misses: Counter[str] = Counter()
    found = trial(fn, memory, memory.place(A, "A"), memory.place(B, "B"), block)
    if found["problem"]:
        return {**found, "misses": {}, "accesses": 0}
    for address, *_ in memory.accesses:
        if not cache.access(address):
            name = memory.name(address)
            misses[name if name in ("A", "B") else "C and others"] += 1
    return {**found, "misses": dict(misses), "accesses": len(memory.accesses)}


def budget(n: int, p: int, m: int, block: int) -> float:
    """Twice what a blocked product misses: each element of B and C comes once for each block that needs it, and every
    array comes at least once. Walking along rows without blocks misses n·p·m/8 and more: three times as often."""
    return 2 * (2 * n * p * m / block + n * p + p * m + n * m) / ELEMENTS


def _examine(seen: Seen) -> Fault | None:
    for (A, B, block), evidence in zip(_calls(seen.case, 0), seen.returned[0], strict=True):
        begin = f"With A of {A.shape}, B of {B.shape} and block = {block}: "
        if evidence["problem"]:
            return unfit(begin, evidence, _EDGE)
        fault = compiled.uncompilable(evidence["uncompilable"]) or _wrong(begin, A, B, block, evidence["C"])
        if fault:
            return fault
    return None


_EDGE = " The last block of a row or column may be smaller: end at min(start + block, size)."


def _wrong(begin: str, A: Array, B: Array, block: int, held: torch.Tensor | None) -> Fault | None:
    wanted = A @ B
    if held is None:
        return Fault("wrong-type", f"{begin}it returns no array. Make C = np.zeros((n, m)) and return it.")
    C = held.numpy()
    if C.shape != wanted.shape:
        return Fault("wrong-shape", f"{begin}C has the shape {C.shape}, not {wanted.shape}.")
    if C.dtype != np.float64:
        return Fault("wrong-dtype", f"{begin}C is an array of {C.dtype}; float64 is wanted, as A and B are.")
    if (wanted == C).all():
        return None
    n, p, m = (size // block * block for size in (*A.shape, B.shape[1]))
    whole = np.zeros_like(wanted)
    whole[:n, :m] = A[:n, :p] @ B[:p, :m]
    if (whole == C).all():
        return Fault("drops-rest", f"{begin}the rows and columns that fill no whole block are missing. " + _REST)
    last = (A.shape[1] - 1) // block * block  # where the last block of k begins
    if (A[:, last:] @ B[last:] == C).all():
        return Fault(
            "overwrites",
            f"{begin}C holds what the last block of k gave: the blocks before it are overwritten. Add to C[i, j].",
        )
    at = tuple(int(i) for i in np.argwhere(wanted != C)[0])
    return Fault("wrong-values", f"{begin}C[{at[0]}, {at[1]}] is {C[at]:g}, not {wanted[at]:g}.{_EMPTY}")


_EMPTY = " (Begin with np.zeros: np.empty leaves in C whatever lay there before.)"
_REST = "Let range run to the end, and end each block at min(start + block, size)."


def _economise(seen: Seen) -> Iterator[Fault]:
    evidence = seen.returned[0][-1]
    interpreted = compiled.interpreted(evidence)
    if interpreted:
        yield interpreted
    n, p, m, block = SHAPES[-1]
    misses, most = evidence["misses"], budget(n, p, m, block)
    total = sum(misses.values())
    if total <= most:
        return
    counted = ", ".join(f"{name} {number:,}" for name, number in sorted(misses.items()))
    begin = (
        f"But A of {n} x {p} times B of {p} x {m} with block = {block} misses a cache of {CACHE // 1024} KiB {total:,} "
        f"times ({counted}); {most:,.0f} are allowed. "
    )
    yield Fault(*_why(total, n, p, m, begin))


def _why(total: int, n: int, p: int, m: int, begin: str) -> tuple[str, str]:
    """Known traffic: about n·p·m misses down columns, n·p·m/8 along rows."""
    if total > 0.5 * n * p * m:
        return "walks-columns", (
            f"{begin}That is about one for each of the {n * p * m:,} products: the innermost loop walks down a column, "
            "where each element lies in another line. Let j be the innermost loop, and use blocks."
        )
    return "not-blocked", (
        f"{begin}You walk along rows, so a line serves {ELEMENTS} elements; but it is gone before it is needed again. "
        "Let the inner three loops stay within one block of A, of B and of C: then each element is used as often as a "
        "block is wide."
    )


def _picture(seen: Seen) -> str:
    """The misses of the large product, by array."""
    from lockstep.show.misses import draw_misses

    evidence = seen.returned[0][-1] if seen.returned else {}
    return draw_misses(evidence["misses"], budget(*SHAPES[-1])) if evidence.get("misses") else ""


def _judge(observation: Observation) -> list[Finding]:
    return compiled.patient(mark(observation, POINTS, _examine, lambda seen: list(_economise(seen))), observation)


BLOCKED_MATMUL = Exercise(
    id="cpu.blocked_matmul",
    title="Blocked matrix product",
    points=POINTS,
    minutes=30,
    parameters="A, B, block",
    cases=one_case("five pairs of matrices"),
    inputs=_calls,
    judge=_judge,
    reference="lockstep.cpu.matmul:blocked_matmul",
    worlds=(1,),
    pure=True,
    watch=_watch,
    real=True,
    seconds=compiled.PATIENCE,
    picture=_picture,
)
