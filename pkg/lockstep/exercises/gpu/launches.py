"""Kernels that a learner writes: each case is one launch on the warp machine, and here is what is written down of it.

An exercise gives ``call(case)``, which is (grid, block, arguments), and ``wanted(case)``: what the last array should
hold. The other arrays must stay as they are. ``watch`` notes arrays, counts and hazards; the budgets are on the counts.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
import torch

from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case
from lockstep.checks.exercise import Compared, Exercise
from lockstep.checks.guard import NotWritten, refuses
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import apart
from lockstep.checks.observation import Seen
from lockstep.checks.wording import counted

Call = Callable[[Case], tuple[tuple[int, ...], tuple[int, ...], tuple[Any, ...]]]  # grid, block, arguments
Wanted = Callable[[Case], Any]

UNTOUCHED = 99 + 1 / 64  # what results hold before: no sum or product of quarters is that


def kernel(call: Call, wanted: Wanted, **asked: Any) -> Exercise:
    """An exercise whose answer is a kernel."""
    return Exercise(
        inputs=lambda case, rank: (call(case),),
        examine=partial(_examine, call, wanted),
        compared=partial(_compared, call, wanted),
        alike=_alike,
        footprint=_footprint,
        watch=watch,
        picture=picture,
        worlds=(1,),
        pure=True,
        **asked,
    )


def launches(told: str, names: str, *rows: tuple[int, ...]) -> Callable[[int, int], list[Case]]:
    """A case for each row: its numbers by ``names``, told as in "n = {n}"."""
    settings = [dict(zip(names.split(), row, strict=True)) for row in rows]
    return lambda ranks, seed: [
        Case(1, seed + number, settings={"told": told.format(**row), **row}) for number, row in enumerate(settings)
    ]


def quarters(case: Case, salt: int, most: int, *shape: int) -> Any:
    """Quarters below ``most``, of either sign, as float32: few enough that sums of them are exact in any order."""
    random = np.random.default_rng([case.seed % 2**32, salt])
    return (random.integers(-4 * most + 1, 4 * most, shape) / 4).astype(np.float32)


def empty(*shape: int) -> Any:
    return np.full(shape, UNTOUCHED, np.float32)


# ---- what is written down


def watch(fn: Callable[..., Any], call: tuple[Any, ...]) -> dict[str, Any]:
    """Launch ``fn`` as the call says: the evidence."""
    from lockstep.simt import launch  # loads numba
    from lockstep.simt.errors import KernelError

    function = getattr(fn, "py_func", fn)
    _refuse_unwritten(function)
    grid, block, arguments = call
    given = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)
    try:
        ran = launch(function, grid, block, *given)
    except KernelError as error:
        return {"error": str(error)}
    return {
        "error": "",
        "names": list(inspect.signature(function).parameters),
        "arrays": [torch.from_numpy(a) if isinstance(a, np.ndarray) else None for a in given],
        "counts": ran.counts(),
        "lines": [asdict(line) for line in ran.lines],
        "hazards": [{"kind": f.kind, "array": f.array, "line": f.line, "message": f.message} for f in ran.findings],
    }


def _refuse_unwritten(function: Callable[..., Any]) -> None:
    """A cell that still raises NotImplementedError, and a function of Lockstep's own, say so by being called."""
    if refuses(function):
        function()
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if any(isinstance(n, ast.Raise) and _named(n) == "NotImplementedError" for n in ast.walk(tree)):
        raise NotWritten


def _named(statement: ast.Raise) -> str:
    """The exception that it raises: ValueError, or ValueError("...")."""
    raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
    return raised.id if isinstance(raised, ast.Name) else ""


def picture(seen: Seen) -> str:
    """The learner's kernel with what each line cost."""
    from lockstep.show import counts_svg

    ran = _ran(seen)
    return "" if ran["error"] else counts_svg.draw(ran["lines"], [h["line"] for h in ran["hazards"]])


def _ran(seen: Seen) -> dict[str, Any]:
    evidence: dict[str, Any] = seen.returned[0][0]
    return evidence


# ---- what is right


def _examine(call: Call, wanted: Wanted, seen: Seen) -> Fault | None:
    """A kernel that no GPU takes; else the most telling hazard; else the first array that is not as it should be."""
    ran = _ran(seen)
    if ran["error"]:
        return Fault("no-kernel", f"With {seen.case}: {ran['error']}")
    if ran["hazards"]:
        hazard = min(ran["hazards"], key=lambda hazard: list(HAZARDS).index(_sort(ran, hazard)))
        misconception, advice = HAZARDS[_sort(ran, hazard)]
        return Fault(misconception, f"With {seen.case}: {hazard['message']} {advice}", telling=True)
    _, _, arguments = call(seen.case)
    for name, held, given in list(zip(ran["names"], ran["arrays"], arguments, strict=True))[:-1]:
        if held is not None and not np.array_equal(held.numpy(), given):
            told = f"With {seen.case}: your kernel changes {name}. Only {ran['names'][-1]} is to be written."
            return Fault("wrong-array", told, telling=True)
    return _difference(seen, ran["names"][-1], ran["arrays"][-1].numpy(), wanted(seen.case))


def _difference(seen: Seen, name: str, held: Any, want: Any) -> Fault | None:
    wrong = np.argwhere(held != want)
    if not len(wrong):
        return None
    at = tuple(int(i) for i in wrong[0])
    there, right = apart(float(held[at]), float(want[at]))
    is_there = "was never written" if held[at] == UNTOUCHED else f"is {there}, not {right}"
    number = f" ({len(wrong):,} of {counted(want.size, 'element')} differ)" if want.size > 1 else ""
    return Fault("wrong-values", f"With {seen.case}: {name}[{', '.join(map(str, at))}] {is_there}{number}.")


HAZARDS: Mapping[str, tuple[str, str]] = {  # the most telling first
    "out_of_bounds": ("out-of-bounds", "Before a thread touches an element, let it look whether the array has it."),
    "negative_index": ("out-of-bounds", "An index below 0 counts from the end in Python, and leaves the array in C."),
    "inactive_lane": ("inactive-lanes", "All 32 lanes must come to a shuffle, also those without an element, and its "
                      "mask names them, one bit a lane: 0xFFFFFFFF."),
    "divergent_barrier": ("divergent-barrier", "All threads of a block must come to the same barrier, with or without "
                          "work: no branch and no early return may keep some of them from it."),
    "uninitialised_read": ("uninitialised", "What nobody has written holds anything: write each word before it is "
                           "read."),
    "race": ("race", "Warps run in no order: put a cuda.syncthreads() between the write of one thread and the access "
             "of another."),
    "lost": ("lost-update", "Give each element to one thread, or let threads add to it with cuda.atomic.add."),
}  # fmt: skip


def _sort(ran: Mapping[str, Any], hazard: Mapping[str, Any]) -> str:
    """Its key in HAZARDS: a race for an array that was passed in loses updates."""
    return "lost" if hazard["kind"] == "race" and hazard["array"] in ran["names"] else str(hazard["kind"])


# ---- what is alike


def _alike(seen: Seen) -> Any:
    """The arrays to the last bit, and the kinds of hazards."""
    ran = _ran(seen)
    arrays = [None if a is None else a.view(torch.int32) for a in ran.get("arrays", ())]
    return arrays, sorted({_sort(ran, hazard) for hazard in ran.get("hazards", ())})


def _footprint(seen: Seen) -> Any:
    """What it asked of memory. How many instructions that takes is a matter of style."""
    names = ("global_requests", "global_bytes", "sectors", "shared_requests", "wavefronts", "atomics")
    return [_ran(seen)["counts"][name] for name in names]


def _compared(call: Call, wanted: Wanted, seen: Seen) -> Compared:
    return [_ran(seen)["arrays"][-1]], [torch.from_numpy(wanted(seen.case))], [torch.from_numpy(call(seen.case)[2][-1])]


# ---- what it costs: measures of a launch


def _measure(name: str, count: str, noun: str, have: str) -> Measure:
    return Measure(lambda seen: _ran(seen)["counts"][count], noun, have, "{}", name)


def _wavefronts(seen: Seen) -> float:
    counts = _ran(seen)["counts"]
    return float(counts["wavefronts"] / max(1, counts["shared_requests"]))


REQUESTS = _measure("requests", "global_requests", "request", "your warps make {} to global memory")
GLOBAL_BYTES = _measure("global bytes", "global_bytes", "byte", "your threads read and write {} of global memory")
SECTORS = _measure("sectors", "sectors", "sector", "{} of 32 bytes are moved")
SHARED_REQUESTS = _measure("shared requests", "shared_requests", "request", "your warps make {} to shared memory")
BARRIERS = _measure("barriers", "barriers", "time", "your warps come to a barrier {}")
ATOMICS = _measure("atomics", "atomics", "atomic operation", "there are {}")
INSTRUCTIONS = _measure("instructions", "instructions", "instruction", "your warps issue {}")
WAVEFRONTS = Measure(_wavefronts, "wavefront", "a request to shared memory takes {}", "{} a request", "wavefronts")


def without_conflicts(at_most: float) -> Budget:
    """So many wavefronts a request."""
    advice = "Lanes that want different words of one bank take several; words of 8 bytes do, too."
    return Budget(WAVEFRONTS, lambda case: 1, at_most=at_most, advice=advice)
