"""``vector_add`` and ``saxpy_grid_stride``: the right element for every thread, and neighbours for neighbours."""

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

POINTS = 2


def _add_cases(ranks: int, seed: int) -> list[Case]:
    sizes = ((1, 1, 32), (100, 1, 128), (300, 3, 128), (256, 4, 64))
    return [_case(seed, n, blocks, threads) for n, blocks, threads in sizes]


def _case(seed: int, n: int, blocks: int, threads: int) -> Case:
    several = f"{blocks} block{'s' if blocks > 1 else ''} of {threads} threads"
    told = f"{n:,} element{'s' if n > 1 else ''} and {several}"
    return case_of(seed, told, n=n, blocks=blocks, threads=threads)


def _vectors(case: Case) -> tuple[Any, Any]:
    n = case.settings["n"]
    return draw(case, n), draw(case, n, least=-9, most=9)


def _add_call(case: Case, rank: int) -> tuple[Launched, ...]:
    a, b = _vectors(case)
    return (((case.settings["blocks"],), (case.settings["threads"],), (a, b, np.full_like(a, UNTOUCHED))),)


def _known_sums(ran: Ran) -> Fault | None:
    a, b = _vectors(ran.case)
    s, out = ran.case.settings, np.full_like(a, UNTOUCHED)
    by_thread, by_sum = out.copy(), out.copy()
    by_thread[: s["threads"]] = (a + b)[: s["threads"]]
    reach = s["threads"] + s["blocks"] - 1
    by_sum[:reach] = (a + b)[:reach]
    known = [
        Known("ignores-the-block", "only the first block's elements are computed, and every block computes them: "
              "cuda.threadIdx.x begins at 0 again in each block. cuda.grid(1) counts through the grid.", by_thread),
        Known("ignores-block-size", "blocks overlap: the blocks before mine hold blockIdx.x * blockDim.x threads, not "
              "blockIdx.x.", by_sum),
    ]  # fmt: skip
    return recognise(ran, 2, a + b, known) if s["blocks"] > 1 else None


def _everyone(ran: Ran) -> Fault | None:
    n, moved = ran.case.settings["n"], ran.counts["global_bytes"]
    if moved <= 1.5 * 12 * n or ran.case.settings["threads"] * ran.case.settings["blocks"] < 2 * 32:
        return None
    threads = ran.case.settings["threads"] * ran.case.settings["blocks"]
    if moved < 0.5 * threads * 12 * n / 32:
        told = f"your threads touch {moved:,} bytes, and {12 * n:,} are enough: read a and b once, write out once."
        return Fault("touches-too-much", f"With {ran.case}: {told}")
    told = (
        f"your threads touch {moved:,} bytes, and {12 * n:,} are enough: each element is computed "
        f"{moved / (12 * n):.0f} "
        "times. A kernel is what one thread does: one element."
    )
    return Fault("everyone-does-everything", f"With {ran.case}: {told}")


def _add_values(ran: Ran) -> Fault | None:
    a, b = _vectors(ran.case)
    return untouched(ran, 0, a) or untouched(ran, 1, b) or right(ran, 2, a + b) or _clamped(ran)


def _clamped(ran: Ran) -> Fault | None:
    """Threads to spare that repeat the last element's work instead of having none."""
    n, threads = ran.case.settings["n"], ran.case.settings["blocks"] * ran.case.settings["threads"]
    if threads == n or ran.counts["global_bytes"] != 12 * threads:
        return None
    told = f"{threads - n} threads too many compute and write the last element again. A thread to spare does nothing."
    return Fault("spare-threads-write", f"With {ran.case}: {told}")


def _cost(seen: Seen) -> list[Fault]:
    """Requests: one for each warp and array. Sectors: as many as the bytes fill."""
    ran, n = Ran.of(seen), seen.case.settings["n"]
    requests, sectors = 3 * -(-n // 32), 3 * -(-n // 8)
    if n < 100:
        return []
    if ran.counts["global_requests"] > 4 * requests:
        told = (
            f"With {seen.case}: {ran.counts['global_requests']:,} loads and stores of warps, where {requests} would "
            f"do. "
            "One lane of 32 is at work. Give every thread an element instead of one thread a loop."
        )
        return [Fault("one-thread", told)]
    if ran.counts["sectors"] > 1.6 * sectors:
        told = (
            f"With {seen.case}: {ran.counts['sectors']:,} sectors of 32 bytes are moved, and {sectors} hold all that "
            f"is "
            "needed. Neighbouring threads must take neighbouring elements at the same time."
        )
        return [Fault("uncoalesced", told)]
    return []


def _judge_add(observation: Observation) -> list[Finding]:
    return mark(observation, POINTS, examined(_known_sums, _everyone, hazards, _add_values), _cost)


def _saxpy_cases(ranks: int, seed: int) -> list[Case]:
    sizes = ((1000, 2, 64), (1000, 4, 64), (800, 1, 128), (700, 3, 96), (100, 2, 128))
    return [_case(seed, n, blocks, threads) for n, blocks, threads in sizes]


ALPHA = 3.0


def _saxpy_call(case: Case, rank: int) -> tuple[Launched, ...]:
    x, y = _vectors(case)
    return (((case.settings["blocks"],), (case.settings["threads"],), (ALPHA, x, y)),)


def _known_saxpy(ran: Ran) -> Fault | None:
    x, y = _vectors(ran.case)
    threads = ran.case.settings["blocks"] * ran.case.settings["threads"]
    once = y.copy()
    once[:threads] += ALPHA * x[:threads]
    known = [
        Known("no-loop", f"only the first {threads} elements are computed, one for each thread. The grid is smaller "
                         f"than "
              "the vector: a thread must go on with its next element.", once),
        Known("forgets-y", "y holds alpha·x: add it to what y held.", ALPHA * x),
    ]  # fmt: skip
    return recognise(ran, 2, y + ALPHA * x, known)


def _twice(ran: Ran) -> Fault | None:
    """Elements that several threads change: a stride that does not fit the grid."""
    if not any(f["kind"] == "race" for f in ran.findings):
        return None
    told = (
        "several threads change the same element. Begin at the thread's place in the grid, and step by the whole grid."
    )
    return Fault("elements-twice", f"With {ran.case}: {told}")


def _saxpy_values(ran: Ran) -> Fault | None:
    x, y = _vectors(ran.case)
    return untouched(ran, 1, x) or right(ran, 2, y + ALPHA * x)


_examine_saxpy = examined(_known_saxpy, _twice, hazards, _saxpy_values)


def _judge_saxpy(observation: Observation) -> list[Finding]:
    """A step that is right for one size of grid is a number written down."""
    found = mark(observation, POINTS, _examine_saxpy, _cost)
    if not found or any(s.failure for s in observation) or not observation.seen:
        return found
    fits = [s.case for s in observation if not _examine_saxpy(s)]
    large = [case for case in fits if case.settings["n"] >= 700]
    grids = {case.settings["blocks"] * case.settings["threads"] for case in large if case.settings["blocks"] > 1}
    if found[0].misconception in ("elements-twice", "wrong-values") and len(large) == len(grids) == 1:
        told = f"It is right only for a grid of {grids.pop()} threads: ask cuda.gridsize(1) how many there are."
        return [Finding(told, "fixed-grid", found[0].points), *(_free(f) for f in found)]
    return found


def _free(finding: Finding) -> Finding:
    return Finding(finding.message, finding.misconception, 0.0, finding.case)


VECTOR_ADD = Exercise(
    id="gpu.vector_add",
    title="Vector addition",
    points=POINTS,
    minutes=10,
    parameters="a, b, out",
    cases=_add_cases,
    inputs=_add_call,
    judge=_judge_add,
    reference="lockstep.simt.kernels:vector_add",
    worlds=(1,),
    pure=True,
    watch=watch_launch,
    picture=picture,
)
SAXPY = Exercise(
    id="gpu.saxpy_grid_stride",
    title="A loop as wide as the grid",
    points=POINTS,
    minutes=15,
    parameters="alpha, x, y",
    cases=_saxpy_cases,
    inputs=_saxpy_call,
    judge=_judge_saxpy,
    reference="lockstep.simt.kernels:saxpy_grid_stride",
    worlds=(1,),
    pure=True,
    watch=watch_launch,
    picture=picture,
)
