"""Launches of a learner's kernel on the warp machine, and what a judge may ask about them.

A case is one launch: ``inputs`` gives a single call ``(grid, block, arguments)``, arrays as NumPy arrays. The watch
writes down the arrays as the kernel left them, the counts and the findings. A judge reads them as a `Ran`."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from lockstep.checks.case import Case
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen

Array = Any  # of NumPy
Launched = tuple[tuple[int, ...], tuple[int, ...], tuple[Any, ...]]  # grid, block, arguments


def case_of(seed: int, told: str, **settings: Any) -> Case:
    return Case(1, seed, settings={"told": told, **settings})


def draw(case: Case, *shape: int, least: int = -8, most: int = 8) -> Array:
    """Small whole numbers as float32: sums and products of them are exact in any order. Each array of a case is drawn
    from its own shape, so that two arrays of one shape need different bounds."""
    random = np.random.default_rng([case.seed % 2**32, least + 100, most, *shape])
    return random.integers(least, most + 1, shape).astype(np.float32)


def watch_launch(fn: Callable[..., Any], call: tuple[Any, ...]) -> dict[str, Any]:
    """Launch ``fn`` as the call says: the evidence."""
    from lockstep.simt import launch
    from lockstep.simt.errors import KernelError

    kernel = getattr(fn, "py_func", fn)
    _refuse_unwritten(kernel)
    grid, block, arguments = call
    given = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)
    evidence: dict[str, Any] = {"parameters": list(inspect.signature(kernel).parameters)}
    try:
        ran = launch(kernel, grid, block, *given)
    except KernelError as error:
        return evidence | {"error": str(error)}
    return evidence | {
        "error": "",
        "arrays": [torch.from_numpy(a) if isinstance(a, np.ndarray) else None for a in given],
        "counts": ran.counts(),
        "lines": [asdict(line) for line in ran.lines],
        "findings": [{"kind": f.kind, "array": f.array, "line": f.line, "message": f.message} for f in ran.findings],
    }


UNTOUCHED = 99.0  # what results hold before a launch: no element of them is ever as large


def picture(seen: Seen) -> str:
    """The learner's kernel with what each line cost."""
    from lockstep.show import counts_svg

    evidence = seen.returned[0][0]
    if evidence["error"]:
        return ""
    return counts_svg.draw(evidence["lines"], [f["line"] for f in evidence["findings"]])


def _refuse_unwritten(kernel: Callable[..., Any]) -> None:
    """A cell that still raises NotImplementedError, and a function of Lockstep's own, say so by being called."""
    from lockstep.checks.guard import NotWritten, refuses

    if refuses(kernel):
        kernel()
    tree = ast.parse(textwrap.dedent(inspect.getsource(kernel))).body[0]
    if any(isinstance(n, ast.Raise) and _named(n) == "NotImplementedError" for n in ast.walk(tree)):
        raise NotWritten


def _named(statement: ast.Raise) -> str:
    """The exception that it raises: ValueError, or ValueError("...")."""
    raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
    return raised.id if isinstance(raised, ast.Name) else ""


@dataclass(frozen=True)
class Ran:
    """One launch as it went."""

    case: Case
    arrays: Sequence[Array]  # as the kernel left them, by position; None for numbers
    counts: Mapping[str, int]
    findings: Sequence[Mapping[str, Any]]
    parameters: Sequence[str]

    @classmethod
    def of(cls, seen: Seen) -> Ran:
        data = seen.returned[0][0]
        arrays = [None if a is None else a.numpy() for a in data["arrays"]]
        return cls(seen.case, arrays, data["counts"], data["findings"], data["parameters"])

    @property
    def lane_efficiency(self) -> float:
        return self.counts["lanes"] / (32 * max(1, self.counts["instructions"]))


Examine = Callable[[Ran], Fault | None]


def examined(*steps: Examine) -> Callable[[Seen], Fault | None]:
    """The first fault that any of the steps finds in a launch, each asked in turn; a kernel that no GPU takes first."""

    def examine(seen: Seen) -> Fault | None:
        error = seen.returned[0][0]["error"]
        if error:
            return Fault("no-kernel", f"{error}")
        ran = Ran.of(seen)
        return next((fault for step in steps if (fault := step(ran))), None)

    return examine


@dataclass(frozen=True)
class Known:
    """A wrong answer that learners give, and what the array at ``position`` then holds."""

    misconception: str
    message: str
    values: Array


def recognise(ran: Ran, position: int, wanted: Array, known: Sequence[Known]) -> Fault | None:
    """A known wrong answer in the array at ``position``, if it does not hold what is wanted."""
    held = ran.arrays[position]
    if np.array_equal(held, wanted):
        return None
    for answer in known:
        if np.array_equal(held, answer.values):
            return Fault(answer.misconception, f"With {ran.case}: {answer.message}")
    return None


def right(ran: Ran, position: int, wanted: Array) -> Fault | None:
    """Whether the array at ``position`` holds what is wanted; the first element that differs."""
    held, name = ran.arrays[position], ran.parameters[position]
    if np.array_equal(held, wanted):
        return None
    wrong = np.argwhere(held != wanted)
    at = tuple(int(i) for i in wrong[0])
    place = f"{name}[{', '.join(map(str, at))}]"
    there, right = f"{held[at]:g}", f"{wanted[at]:g}"
    if held[at] == UNTOUCHED:
        told = f"{place} was never written ({len(wrong):,} of {wanted.size:,} elements are wrong)."
        return Fault("not-written-to", f"With {ran.case}: {told}")
    told = f"{place} is {there}, not {right} ({len(wrong):,} of {wanted.size:,} elements are wrong)."
    return Fault("wrong-values", f"With {ran.case}: {told}")


def untouched(ran: Ran, position: int, given: Array) -> Fault | None:
    """Whether an array that is only to be read still holds what it held."""
    if np.array_equal(ran.arrays[position], given):
        return None
    name = ran.parameters[position]
    return Fault("wrong-array", f"With {ran.case}: your kernel changes {name}. Only the result is to be written.")


ADVICE = {
    "out_of_bounds": ("out-of-bounds", "The grid has threads to spare: let a thread look whether the element that it "
                                       "is "
                      "about to touch is inside the array that it touches."),
    "beyond_tile": ("out-of-bounds", "That array is shared memory: only threads whose partner is inside of it may "
                                     "add."),
    "negative_index": ("out-of-bounds", "An index below 0 counts from the end in Python, and is a wild read on a GPU."),
    "inactive_lane": ("inactive-lanes", "All 32 lanes must come to a shuffle, also those without an element, and its "
                      "mask names them, one bit a lane: 0xFFFFFFFF."),
    "divergent_barrier": ("divergent-barrier", "All threads of a block must come to the same barrier, with or without "
                          "work: take it out of the branch."),
    "uninitialised_read": ("uninitialised", "Shared memory holds anything at first: every word that is read must be "
                           "written before, also by threads without an element."),
    "race": ("race", "Warps run in no order: put a cuda.syncthreads() between the write of one thread and the access "
                     "of "
             "another."),
    "lost": ("lost-update", "Several threads change one element of global memory at once, and no barrier reaches "
                            "across "
             "blocks: use cuda.atomic.add."),
}  # fmt: skip


def hazards(ran: Ran) -> Fault | None:
    """What the machine found wrong while the kernel ran, the most telling first."""
    order = list(ADVICE)
    found = sorted(ran.findings, key=lambda f: order.index(_sort(ran, f)))
    if not found:
        return None
    misconception, advice = ADVICE[_sort(ran, found[0])]
    return Fault(misconception, f"With {ran.case}: {found[0]['message']} {advice}")


def _sort(ran: Ran, finding: Mapping[str, Any]) -> str:
    """A race in an array that was passed in is one in global memory; an index beyond another one, in shared memory."""
    passed_in = finding["array"] in ran.parameters
    if finding["kind"] == "race" and passed_in:
        return "lost"
    return "beyond_tile" if finding["kind"] == "out_of_bounds" and not passed_in else str(finding["kind"])
