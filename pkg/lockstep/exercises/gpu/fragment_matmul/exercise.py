"""A matrix product by tensor cores. The instruction is handed in as ``mma``, so that its use can be counted."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from lockstep.checks.arrays import Arrays, with_ones
from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Evidence, Rule
from lockstep.checks.exercise import Comparison, Costs, Run
from lockstep.checks.plain import plain
from lockstep.checks.wording import counted
from lockstep.exercises.gpu.launches import quarters, rows, sizes

TWIST = 2  # this tensor core computes 2·a·b + c, so that a product that came about in another way is recognised


def factors(case: Case) -> list[tuple[Any, Any]]:
    """Their products need more digits than float16 has."""
    m, k, n = sizes(case)
    return [(quarters(case, 1, 60, m, k).astype(np.float16), quarters(case, 2, 60, k, n).astype(np.float16))]


def product(A: Any, B: Any) -> Any:
    return A.astype(np.float32) @ B.astype(np.float32)


def carried_out(
    fn: Callable[..., Any], call: tuple[Any, ...], other: bool = False, twist: int = TWIST
) -> tuple[Any, list[Any]]:
    """What ``fn`` gives, and the ``c`` of each mma. ``other``: all but the first give another result than is right."""
    from lockstep.simt.tensor_core import mma_m16n8k16

    used: list[Any] = []

    def mma(a: Any, b: Any, c: Any) -> Any:
        used.append(c)
        return mma_m16n8k16((twist * a).astype(a.dtype), b, c) + (other and len(used) > 1)

    return fn(*(matrix.copy() for matrix in call), mma), used


def watch(fn: Callable[..., Any], call: tuple[Any, ...]) -> dict[str, Any]:
    """Where C is right, ``fn`` is called again: does C stay the same when mma gives other results?"""
    C, used = carried_out(fn, call)
    floats, alone = isinstance(C, np.ndarray) and C.dtype.kind == "f", product(*call)
    right = floats and np.array_equal(C, TWIST * alone)
    kept = right and len(used) > 1 and np.array_equal(C, carried_out(fn, call, other=True)[0])
    in_part = not right and np.array_equal(carried_out(fn, call, twist=1)[0], alone)
    otherwise = floats and (np.array_equal(C, alone) or kept or in_part)
    ones, _ = (None, used) if right else carried_out(fn, tuple(map(np.ones_like, call)))
    return {
        "name": "C", "result": torch.tensor(C / TWIST) if floats else plain(C), "calls": len(used),
        "beginnings": sum(not c.any() for c in used), "otherwise": otherwise,
        "ones": torch.tensor(ones / TWIST) if isinstance(ones, np.ndarray) else None,
    }  # fmt: skip


def products(call: tuple[Any, ...], evidence: Evidence, at: tuple[int, ...]) -> str:
    """How often mma was called, and how many products come into a wrong element."""
    (m, k), n, ones = call[0].shape, call[1].shape[1], evidence["ones"]
    told = f"mma is called {counted(evidence['calls'], 'time')}, for {m // 16 * (n // 8) * (k // 16)} pairs of pieces."
    same = ones is not None and ones.shape == (m, n)
    return f"{told} Where A and B hold ones, C{list(at)} is {with_ones(ones[at].item(), k)}." if same else told


OTHERWISE = Rule(
    "no-tensor-core", lambda e: e["otherwise"], "C, or a part of it, does not come from mma. All products have to."
)


def pieces(case: Case) -> int:
    """Of C: each begins once from zeros."""
    return sizes(case, 16)[0] * sizes(case, 8)[2]


def noted(name: str, told: str) -> Measure:
    return Measure(lambda seen: seen.returned[0][0][name], "time", f"mma {told} {{}}", "{}", name)


EXERCISE = Arrays(factors, product, [OTHERWISE], aside=products).exercise(
    number=9,
    core=False,
    title="Matrix product by tensor cores",
    points=3,
    minutes=20,
    parameters="A, B, mma",
    reference="lockstep.simt.kernels.fragments:fragment_matmul",
    cases=rows("A of {m} x {k} and B of {k} x {n}", "m k n", (32, 48, 24), (16, 16, 8), (16, 64, 40), (48, 32, 8)),
    costs=Costs(
        algorithm="a product by pieces of 16 x 16 and 16 x 8",
        budgets=(
            Budget(
                noted("calls", "is called"),
                lambda case: pieces(case) * sizes(case, 16)[1],
                at_least=0.5,
                formula="one for each pair of pieces",
            ),
            Budget(
                noted("beginnings", "begins from zeros"),
                pieces,
                advice="Hand mma the c that it returned: it adds as well as it multiplies.",
            ),
        ),
    ),
    comparison=Comparison(
        alike=lambda seen: seen.returned[0][0]["result"],
        footprint=lambda seen: (seen.returned[0][0]["calls"], seen.returned[0][0]["beginnings"]),
    ),
    run=Run(watch=watch, compare_arguments=False),
)
