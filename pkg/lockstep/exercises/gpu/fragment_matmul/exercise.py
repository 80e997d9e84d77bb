"""A matrix product by tensor cores. The instruction is handed in as ``mma``, so that its use can be counted."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case
from lockstep.checks.exercise import Compared, Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import apart
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.values import told
from lockstep.exercises.gpu.launches import launches, quarters

TILE, WIDE = 16, 8  # of the instruction: 16 x 16 by 16 x 8
TWIST = 2  # this tensor core computes 2·a·b + c, so that a product that came about in another way is recognised


def factors(case: Case) -> tuple[Any, Any]:
    """Their products need more digits than float16 has."""
    s = case.settings
    A, B = quarters(case, 1, 60, s["m"], s["k"]), quarters(case, 2, 60, s["k"], s["n"])
    return A.astype(np.float16), B.astype(np.float16)


def product(case: Case) -> torch.Tensor:
    A, B = factors(case)
    return torch.from_numpy(A.astype(np.float32) @ B.astype(np.float32))


def watch(fn: Callable[..., Any], call: tuple[Any, ...]) -> dict[str, Any]:
    from lockstep.simt.tensor_core import mma_m16n8k16

    used: list[Any] = []

    def mma(a: Any, b: Any, c: Any) -> Any:
        result = mma_m16n8k16((TWIST * a).astype(a.dtype), b, c)
        used.append((str(c.dtype), not c.any()))
        return result

    C = fn(*(matrix.copy() for matrix in call), mma)
    floats = isinstance(C, np.ndarray) and C.dtype.kind == "f"
    C = torch.from_numpy(np.ascontiguousarray(C)) if floats else plain(C)
    halves, begun = sum(dtype == "float16" for dtype, _ in used), sum(zeros for _, zeros in used)
    return {"C": C, "used": len(used), "halves": halves, "begun": begun}


def examine(seen: Seen) -> Fault | None:
    evidence, right = seen.returned[0][0], product(seen.case)
    C = evidence["C"]
    if not isinstance(C, torch.Tensor):
        message = f"it returns {told(C)}; a NumPy array of float32 is wanted."
        return Fault("wrong-type", f"With {seen.case}: {message}")
    if C.shape != right.shape:
        return Fault("wrong-shape", f"With {seen.case}: C has the shape {tuple(C.shape)}, not {tuple(right.shape)}.")
    if not evidence["used"] or torch.equal(C.float(), right):
        return Fault("no-tensor-core", f"With {seen.case}: C does not come from mma. The product has to come from it.")
    if evidence["halves"]:
        message = "an accumulator of float16 keeps 11 binary digits, and the sums need more: begin with float32."
        return Fault("half-accumulator", f"With {seen.case}: {message}")
    if C.dtype != torch.float32:
        return Fault("wrong-dtype", f"With {seen.case}: C is {C.dtype}; float32 is wanted.".replace("torch.", ""))
    if torch.equal(C, TWIST * right):
        return None
    wrong = (TWIST * right != C).nonzero().tolist()
    there, want = apart(float(C[tuple(wrong[0])]) / TWIST, float(right[tuple(wrong[0])]))
    message = f"C{wrong[0]} is {there}, not {want} ({len(wrong):,} of {right.numel():,} elements differ)."
    return Fault("wrong-values", f"With {seen.case}: {message}")


def compared(seen: Seen) -> Compared:
    return [seen.returned[0][0]["C"]], [TWIST * product(seen.case)], [None]


def pieces(case: Case) -> int:
    """Of C: each begins once from zeros."""
    return int(case.settings["m"] // TILE * case.settings["n"] // WIDE)


CALLS = Measure(lambda seen: seen.returned[0][0]["used"], "time", "mma is called {}", "{}", "calls")
BEGUN = Measure(lambda seen: seen.returned[0][0]["begun"], "time", "mma begins from zeros {}", "{}", "beginnings")

EXERCISE = Exercise(
    number=8,
    core=False,
    title="Matrix product by tensor cores",
    points=3,
    minutes=20,
    parameters="A, B, mma",
    reference="lockstep.simt.kernels.fragments:fragment_matmul",
    cases=launches("A of {m} x {k} and B of {k} x {n}", "m k n", (32, 48, 24), (16, 16, 8), (16, 64, 40), (48, 32, 8)),
    inputs=lambda case, rank: (factors(case),),
    examine=examine,
    compared=compared,
    alike=lambda seen: seen.returned[0][0]["C"],
    footprint=lambda seen: (seen.returned[0][0]["used"], seen.returned[0][0]["begun"]),
    watch=watch,
    worlds=(1,),
    pure=True,
    of="a product by pieces of 16 x 16 and 16 x 8",
    budgets=(
        Budget(CALLS, lambda case: pieces(case) * case.settings["k"] // TILE, "one for each pair of pieces",
               at_least=0.5),
        Budget(BEGUN, pieces, advice="Hand mma the c that it returned: it adds as well as it multiplies."),
    ),
)  # fmt: skip
