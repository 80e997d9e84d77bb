"""Kernels that a learner writes: each case is one launch on the warp machine, of which this module makes a record.

An exercise gives ``call(case)``, which is (grid, block, arguments), and what the last array is ``wanted`` to hold then;
the other arrays must stay as they are. ``watch`` records arrays, counts and hazards; the budgets are for the counts.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import torch

from lockstep.checks.arrays import Arrays
from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Evidence, Rule
from lockstep.checks.exercise import Comparison, Costs, Exercise, Feedback, Run
from lockstep.checks.guard import NotWritten, refuses
from lockstep.checks.observation import Seen
from lockstep.checks.wording import listed
from lockstep.simt.race_detection.findings import Finding

Call = tuple[tuple[int, ...], tuple[int, ...], tuple[Any, ...]]  # grid, block, arguments


Probes = Callable[..., list[tuple[Any, ...]]]  # of the arguments: other ones, by which a wrong result is understood


def kernel(
    call: Callable[[Case], Call],
    wanted: Callable[..., Any],
    costs: Costs,
    aside: Callable[..., str] = lambda arguments, evidence, at: "",
    probes: Probes = lambda *arguments: [],
    **fields: Any,
) -> Exercise:
    """An exercise whose answer is a kernel. Where its result is wrong, it is launched with ``probes``, too: "probed"
    is what the last array of each then holds."""
    judge = Arrays(lambda case: [call(case)], wanted, RULES, arguments=lambda call: call[2], aside=aside)

    def watched(fn: Callable[..., Any], call: Call) -> Evidence:
        found = watch(fn, call)
        if found["error"] or found["hazards"] or np.array_equal(found["result"].numpy(), wanted(*call[2])):
            return found
        return found | {"probed": [watch(fn, (*call[:2], other)).get("result") for other in probes(*call[2])]}

    return judge.exercise(
        costs=replace(costs, budgets=tuple(map(_with_lines, costs.budgets))),
        comparison=Comparison(alike=_alike, footprint=_footprint),
        run=Run(watch=watched, watch_known=watch, compare_arguments=False),
        feedback=Feedback(picture=picture),
        **fields,
    )


def rows(told: str, names: str, *numbers: tuple[int, ...]) -> Callable[[int, int], list[Case]]:
    """A case for each row: its numbers by ``names``, and its name by ``told``, as in "n = {n}"."""
    settings = [dict(zip(names.split(), row, strict=True)) for row in numbers]
    return lambda ranks, seed: [
        Case(1, seed + number, settings={"told": told.format(**row), **row}) for number, row in enumerate(settings)
    ]


def sizes(case: Case, items: int = 1) -> tuple[int, ...]:
    """The numbers of its row, in pieces of so many; the last piece may be smaller."""
    return tuple(-(-number // items) for name, number in case.settings.items() if name != "told")


def quarters(case: Case, salt: int, most: int, *shape: int) -> Any:
    """Quarters below ``most``, of either sign, as float32: few enough that sums of them are exact in any order."""
    random = np.random.default_rng([case.seed % 2**32, salt])
    return (random.integers(-4 * most + 1, 4 * most, shape) / 4).astype(np.float32)


def empty(*shape: int) -> Any:
    """What results hold before: no sum or product of quarters is that."""
    return np.full(shape, 99 + 1 / 64, np.float32)


def watch(fn: Callable[..., Any], call: Call) -> dict[str, Any]:
    """Launch ``fn`` as the call says: the evidence. "last_warp" is how many elements of each array the first warp of
    the last block accesses. What still raises NotImplementedError, and a function of Lockstep's own, say so."""
    from lockstep.simt import launch  # loads numba
    from lockstep.simt.errors import KernelError

    function = getattr(fn, "py_func", fn)
    if refuses(function):
        function()
    if "NotImplementedError" in function.__code__.co_names:
        raise NotWritten
    grid, block, arguments = call
    given = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)
    try:
        ran = launch(function, grid, block, *given, record=(math.prod(grid) - 1, 0))
    except KernelError as error:
        return {"error": str(error)}
    names = list(inspect.signature(function).parameters)
    *kept, result = [torch.from_numpy(a) if isinstance(a, np.ndarray) else None for a in given]
    return {
        "error": "", "names": names, "arrays": kept, "name": names[-1], "result": result, "counts": ran.counts(),
        "lines": [asdict(line) for line in ran.lines], "sick": [f.line for f in ran.findings],
        "hazards": {_sort(f, names): f.message for f in reversed(ran.findings)},
        "last_warp": {name: sum(len(s.addresses) for s in ran.steps if s.array == name) for name in names},
    }  # fmt: skip


def _sort(found: Finding, arguments: list[str]) -> str:
    """Its key in HAZARDS: a race for an array that was passed in loses updates."""
    return "lost" if found.kind == "race" and found.array in arguments else found.kind


def picture(seen: Seen) -> str:
    """The learner's kernel with what each line cost."""
    from lockstep.exercises.gpu import annotated_source

    ran = ran_of(seen)
    return "" if ran["error"] else annotated_source.draw(ran["lines"], ran["sick"])


def ran_of(seen: Seen) -> Evidence:
    evidence: Evidence = seen.returned[0][0]
    return evidence


def _hazard(kind: str, misconception: str, advice: str) -> Rule:
    return Rule(misconception, lambda e: kind in e["hazards"], f"{{hazards[{kind}]}} {advice}", telling=True)


RULES = (  # the most telling first
    Rule("no-kernel", lambda e: e["error"], "{error}"),
    _hazard("out_of_bounds", "out-of-bounds", "Before a thread touches an element, let it look whether the array has "
            "it."),
    _hazard("negative_index", "out-of-bounds", "An index below 0 counts from the end in Python, and leaves the array "
            "in C."),
    _hazard("inactive_lane", "inactive-lanes", "All 32 lanes must come to a shuffle, also those without an element, "
            "and its mask names them, one bit a lane: 0xFFFFFFFF."),
    _hazard("divergent_barrier", "divergent-barrier", "All threads of a block must come to the same barrier, with or "
            "without work: no branch and no early return may keep some of them from it."),
    _hazard("uninitialised_read", "uninitialised", "What nobody has written holds anything: write each word before it "
            "is read."),
    _hazard("race", "race", "Warps run in no order: put a cuda.syncthreads() between the write of one thread and the "
            "access of another. If both add to one word, use cuda.atomic.add."),
    _hazard("lost", "lost-update", "Give each element to one thread, or let threads add to it with cuda.atomic.add."),
)  # fmt: skip


def _alike(seen: Seen) -> Any:
    """The arrays to the last bit, and the kinds of hazards."""
    ran = ran_of(seen)
    arrays = [None if a is None else a.view(torch.int32) for a in (*ran.get("arrays", ()), ran.get("result"))]
    return arrays, sorted(ran.get("hazards", ()))


def _footprint(seen: Seen) -> Any:
    """What it asked of memory. How many instructions that takes is a matter of style."""
    names = ("global_requests", "global_bytes", "sectors", "shared_requests", "wavefronts", "atomics")
    return [ran_of(seen)["counts"][name] for name in names]


# ---- what it costs: measures of a launch


def _measure(name: str, noun: str, have: str) -> Measure:
    return Measure(lambda seen: ran_of(seen)["counts"][name.replace(" ", "_")], noun, have, "{}", name)


REQUESTS = _measure("global requests", "request", "your warps make {} to global memory")
GLOBAL_BYTES = _measure("global bytes", "byte", "your threads read and write {} of global memory")
SECTORS = _measure("sectors", "sector", "{} of 32 bytes are moved")
SHARED_REQUESTS = _measure("shared requests", "request", "your warps make {} to shared memory")
BARRIERS = _measure("barriers", "time", "your warps come to a barrier {}")
ATOMICS = _measure("atomics", "atomic operation", "there are {}")
SHUFFLES = _measure("shuffles", "time", "your warps shuffle {}")


def _with_lines(budget: Budget) -> Budget:
    """Its advice says first which line costs more than half, or what each costs."""

    def advice(seen: Seen) -> str:
        what = budget.measured.name.replace(" ", "_")
        lines = [line for line in ran_of(seen)["lines"] if line[what]]
        most = max(lines, key=lambda line: float(line[what]))
        if 2 * most[what] > sum(line[what] for line in lines) or len(lines) > 6:
            told = f"{most[what]:,} of them at line {most['number']}: {most['text'].strip()}"
        else:
            told = f"They are {listed(['{:,} at line {}'.format(line[what], line['number']) for line in lines])}."
        return f"{told}\n{budget.advice}".strip()

    return budget if budget.measure == WAVEFRONTS else replace(budget, advice=advice)


def _wavefronts(seen: Seen) -> float:
    counts = ran_of(seen)["counts"]
    return float(counts["wavefronts"] / max(1, counts["shared_requests"]))


WAVEFRONTS = Measure(_wavefronts, "wavefront", "a request to shared memory takes {}", "{} a request", "wavefronts")


def without_conflicts(at_most: float) -> Budget:
    """So many wavefronts a request."""
    advice = "Lanes that want different words of one bank take several; words of 8 bytes do, too."
    return Budget(WAVEFRONTS, lambda case: 1, at_most=at_most, advice=advice)
