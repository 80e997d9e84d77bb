"""``fragment_matmul``: the tensor core is handed in as ``mma``, so that its use can be counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.gpu.launches import case_of
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.plain import plain
from lockstep.checks.values import told

POINTS = 3
TILE, WIDE = 16, 8  # of the instruction: 16 x 16 by 16 x 8
LARGE = 60  # products of numbers up to this one need more digits than float16 has
TWIST = 2  # the check's tensor core computes 2·a·b + c: so a product that came another way is recognised


def _cases(ranks: int, seed: int) -> list[Case]:
    sizes = ((16, 16, 8), (32, 48, 24), (16, 64, 40))
    return [case_of(seed, f"A of {m} x {k} and B of {k} x {n}", m=m, k=k, n=n) for m, k, n in sizes]


def _factors(case: Case) -> tuple[Any, Any]:
    s, random = case.settings, np.random.default_rng(case.seed % 2**32)
    A, B = random.integers(-LARGE, LARGE + 1, (s["m"], s["k"])), random.integers(-LARGE, LARGE + 1, (s["k"], s["n"]))
    return A.astype(np.float16), B.astype(np.float16)


def _watch(fn: Callable[..., Any], call: tuple[Any, ...]) -> dict[str, Any]:
    from lockstep.simt.tensor_core import mma_m16n8k16

    accumulators: list[str] = []
    begun = 0

    def mma(a: Any, b: Any, c: Any) -> Any:
        nonlocal begun
        result = mma_m16n8k16((TWIST * a).astype(a.dtype), b, c)
        accumulators.append(str(c.dtype))
        begun += not c.any()
        return result

    C = fn(*(matrix.copy() for matrix in call), mma)
    array = isinstance(C, np.ndarray) and C.dtype.kind == "f"
    held = torch.from_numpy(np.ascontiguousarray(C)) if array else plain(C)
    return {"C": held, "used": len(accumulators), "halves": accumulators.count("float16"), "begun": begun}


def _examine(seen: Seen) -> Fault | None:
    evidence = seen.returned[0][0]
    A, B = (matrix.astype(np.float32) for matrix in _factors(seen.case))
    C, plainly = evidence["C"], A @ B
    wanted = TWIST * plainly
    if not isinstance(C, torch.Tensor):
        return Fault("wrong-type", f"With {seen.case}: it returns {told(C)}; a NumPy array of float32 is wanted.")
    if tuple(C.shape) != wanted.shape:
        shapes = f"{tuple(C.shape)}, and {wanted.shape} is wanted."
        return Fault("wrong-shape", f"With {seen.case}: it returns an array of the shape {shapes}")
    held = C.numpy()
    if evidence["used"] == 0 or np.array_equal(held, plainly):
        return Fault("no-tensor-core", f"With {seen.case}: C does not come from mma. The product has to come from it.")
    if not held.any():
        return Fault("result-dropped", f"With {seen.case}: C is all zeros. mma returns the new c; it changes nothing.")
    if np.array_equal(held, wanted):
        return Fault("wrong-type", f"C is {held.dtype}; float32 is wanted.") if held.dtype != np.float32 else None
    if evidence["halves"]:
        message = (
            "your accumulator is float16: it keeps 11 binary digits, and the sums need more. The tensor core can "
            "add up in float32: begin with zeros of float32."
        )
        return Fault("half-accumulator", f"With {seen.case}: {message}")
    if np.array_equal(held, wanted.astype(np.float16)):
        message = "C has been rounded to float16 at the end. Make it an array of float32."
        return Fault("rounded-at-the-end", f"With {seen.case}: {message}")
    return _recognised(seen, held, TWIST * A, B) or _somewhere(seen, held / TWIST, plainly)


def _recognised(seen: Seen, held: Any, A: Any, B: Any) -> Fault | None:
    known = (
        ("last-step-only", "only the last 16 columns of A and rows of B count: each step begins from zeros again. Hand "
         "mma the c that it returned.", A[:, -TILE:] @ B[-TILE:]),
        ("first-step-only", "only the first 16 columns of A and rows of B count: step through all of k.",
         A[:, :TILE] @ B[:TILE]),
    )  # fmt: skip
    for misconception, message, values in known:
        if np.array_equal(held, values):
            return Fault(misconception, f"With {seen.case}: {message}")
    return None


def _somewhere(seen: Seen, held: Any, wanted: Any) -> Fault:
    wrong = np.argwhere(held != wanted)
    (i, j), tile = wrong[0], held[:TILE, :WIDE]
    within = (
        "The first tile is right: look at which tile goes where." if np.array_equal(tile, wanted[:TILE, :WIDE]) else ""
    )
    message = f"C[{i}, {j}] is {held[i, j]:g}, not {wanted[i, j]:g} ({len(wrong)} elements are wrong). {within}"
    return Fault("wrong-values", f"With {seen.case}: {message.strip()}")


def _cost(seen: Seen) -> list[Fault]:
    s, used = seen.case.settings, seen.returned[0][0]["used"]
    enough = (s["m"] // TILE) * (s["k"] // TILE) * (s["n"] // WIDE)
    begun, tiles = seen.returned[0][0]["begun"], (s["m"] // TILE) * (s["n"] // WIDE)
    if used <= enough and begun > tiles:
        message = (
            f"With {seen.case}: mma begins from zeros {begun} times, for {tiles} pieces of C. Hand it the c that it "
        )
        return [Fault("adds-outside", message + "returned: it adds as well as it multiplies.")]
    if used <= enough:
        return []
    message = f"With {seen.case}: mma is called {used} times; {enough} are enough, one for each pair of pieces."
    return [Fault("too-many-instructions", message)]


def _judge(observation: Observation) -> list[Finding]:
    return mark(observation, POINTS, _examine, _cost)


FRAGMENT_MATMUL = Exercise(
    id="gpu.fragment_matmul",
    title="Matrix product by tensor cores",
    points=POINTS,
    minutes=20,
    parameters="A, B, mma",
    cases=_cases,
    inputs=lambda case, rank: (_factors(case),),
    judge=_judge,
    reference="lockstep.simt.kernels.fragments:fragment_matmul",
    worlds=(1,),
    pure=True,
    watch=_watch,
)
