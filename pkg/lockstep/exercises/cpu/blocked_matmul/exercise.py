"""blocked_matmul: the misses of a small cache are counted, by running the function in Python on traced arrays."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.transforms import changed_tensors
from lockstep.checks.values import told
from lockstep.cpu.cache import Cache
from lockstep.cpu.traced import Memory
from lockstep.cpu.trial import Trial
from lockstep.exercises.cpu import kernels
from lockstep.exercises.cpu.arrays import one_case, quarters, wide
from lockstep.exercises.cpu.kernels import Evidence, Kernel
from lockstep.exercises.cpu.pictures import misses

# n, p, m, block. The order of accesses is compared in the two of one shape, the misses are counted in the last one.
SHAPES = ((5, 7, 3, 2), (1, 1, 1, 4), (4, 6, 8, 16), (9, 13, 17, 4), (9, 13, 17, 5), (24, 40, 40, 8))
CACHE = 2048  # bytes: 32 lines of 64; three blocks of 8 x 8 float64 take 24
ELEMENTS = 8  # of float64 in a line


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    """A and B by turns hold what only float64 does; their product is exact in any order."""
    calls = []
    for i, (n, p, m, block) in enumerate(SHAPES):
        A, B = (wide, quarters) if i % 2 else (quarters, wide)
        calls.append((A(case, 2 * i, n, p).astype("float64"), B(case, 2 * i + 1, p, m).astype("float64"), block))
    return tuple(calls)


def result(returned: Any, arguments: tuple[Any, ...]) -> Any:
    """``plain`` makes lists of NumPy's arrays, and C is to keep its dtype."""
    kept = isinstance(returned, np.ndarray) and returned.dtype.kind in "fi"
    return torch.tensor(np.asarray(returned)) if kept else plain(returned)


def facts(trial: Trial) -> Evidence:
    memory, cache = trial.memory, Cache(CACHE)
    missed = Counter(memory.name(a[0]) for a in memory.accesses if not cache.access(a[0]))
    order = hashlib.sha1(repr(memory.accesses).encode()).hexdigest()
    others = missed.total() - missed["A"] - missed["B"]
    return {
        "misses": {"A": missed["A"], "B": missed["B"], "C and others": others},
        "order": order,
        "reads": {name: memory.uses(name).tolist() for name in ("A", "B")},
    }


def budget(n: int, p: int, m: int, block: int) -> float:
    """Twice what a blocked product misses: each element of B and C comes once for each block that needs it, and every
    array comes at least once. Walking along rows without blocks misses n·p·m/8 and more: three times as often."""
    return 2 * (2 * n * p * m / block + n * p + p * m + n * m) / ELEMENTS


def examine(seen: Seen) -> Fault | None:
    rows = list(zip(inputs(seen.case, 0), seen.returned[0], strict=True))
    return kernels.first([wrong(call, evidence) for call, evidence in rows])


def wrong(call: tuple[Any, Any, int], evidence: Evidence) -> Fault | None:
    A, B, block = call
    begin = f"With A of {A.shape}, B of {B.shape} and block = {block}: "
    if fault := kernels.unfit(begin, evidence):
        return fault
    C, wanted = evidence["result"], torch.from_numpy(A @ B)
    if not isinstance(C, torch.Tensor):
        return Fault("wrong-type", f"{begin}it returns {told(C)}. Make C = np.zeros((n, m)) and return it.")
    if C.shape != wanted.shape:
        return Fault("wrong-shape", f"{begin}C has the shape {tuple(C.shape)}, not {tuple(wanted.shape)}.")
    if C.dtype != torch.float64:
        kind = str(C.dtype).removeprefix("torch.")
        return Fault("wrong-dtype", f"{begin}C is an array of {kind}; float64 is wanted, as A and B are.")
    if torch.equal(C, wanted):
        return None
    at = tuple(int(i) for i in (wanted != C).nonzero()[0])
    begin += f"C[{at[0]}, {at[1]}] is {float(C[at])!r}, not {float(wanted[at])!r}."
    left = [kernels.skipped(name, np.array(uses)) for name, uses in evidence["reads"].items()]
    if any(left):
        return Fault("never-read", f"{begin} {' '.join(filter(None, left))} Blocks at the end may be smaller.")
    if kernels.as_float32(C.numpy(), wanted.numpy(), np.abs(A) @ np.abs(B)):
        return Fault("single-precision", f"{begin} {kernels.IN_FLOAT32}")
    if change := changed_tensors([C], [wanted], [None]):
        return Fault(change[0], f"{begin} {change[1]}")
    return Fault("wrong-values", begin)


def economise(seen: Seen) -> Sequence[Fault]:
    *_, one, other, evidence = seen.returned[0]
    if fault := kernels.interpreted(evidence):
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
    "inner three loops stay within one block of A, of B and of C: then each element is used as often as a block is wide."
)
KERNEL = Kernel(("A", "B", "block"), result, facts, memory=lambda arguments: Memory())

EXERCISE = Exercise(
    number=3,
    title="Blocked matrix product",
    points=4,
    minutes=30,
    parameters="A, B, block",
    reference="lockstep.cpu.matmul:blocked_matmul",
    cases=one_case("six pairs of matrices"),
    inputs=inputs,
    examine=examine,
    economise=economise,
    alike=kernels.alike,
    hints=kernels.HINTS,
    watch=KERNEL.watch,
    beside=KERNEL.beside,
    picture=lambda seen: misses(seen, budget(*SHAPES[-1])),
    worlds=(1,),
    pure=True,
    real=True,
    seconds=kernels.PATIENCE,
)
