"""Ranks that take steps of their own between two all-reduces: which gradients they ask for, and at which w."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.checks.evidence_rules import Rule, first
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.run_faults import forgiven
from lockstep.checks.values import compare
from lockstep.exercises.without_waiting.evidence import results

STEPS = Rule("step-numbers", lambda e: e["asked"] != e["steps"], "Rank {rank} asks for the gradients of the steps "
             "{asked}; its steps are {steps}, each once, from the first to the last.", telling=True)  # fmt: skip
WHY = (  # values are wrong
    STEPS,
    Rule("w-stands-still", lambda e: e["still"], "Rank {rank} asks for the gradient of step {still[0]} at the same w "
         "as for the last one. First comes a step by that one, on this rank's own w.", telling=True),
)  # fmt: skip

Before = tuple[str, Sequence[Tensor]]  # what comes before a step, in words; and each member's w there


def start_and_middle(case: Case, rank: int, more: float = 0.0) -> tuple[Tensor, Tensor]:
    """Halves, the start the same on all ranks, and ``more`` than that: of shape () with 2 ranks, and with 3 not
    contiguous."""
    shape = {2: (), 3: (3, 2)}.get(case.ranks, (4,))
    drawn = [torch.randint(-8, 9, shape, generator=generator(case, r)).double() / 2 for r in (-1, rank)]
    start, middle = (x.transpose(0, -1) for x in drawn)
    return start + more, middle


def misled(seen: Seen, want: Tensor, path: Iterable[Before], steps: int) -> Fault | None:
    """Wrong values; and why, if what the gradients were asked for says that. All members want the same."""
    held = results(seen)
    fault = compare(seen, held, [forgiven(value, want, 1e-12) for value in held])
    found = [seen.returned[rank]["found"] for rank in seen.case.members]
    why = first(WHY, *found)
    if fault and why:
        return replace(why, message=f"{fault.message} {why.message}")
    return fault and replace(fault, aside=parted(seen.case, [one.get("given", []) for one in found], path, steps))


def parted(case: Case, given: list[list[Tensor]], path: Iterable[Before], steps: int) -> str:
    """Where the ranks' models part from the right ones, by the w that each step's gradient was ``given``."""
    for step, (before, right) in zip(range(min(map(len, given))), path, strict=False):
        for rank, mine, want in zip(case.members, given, right, strict=True):
            begins = f"Rank {rank} begins step {step} with a w"
            if mine[step].dtype != want.dtype:
                return f"{begins} of {mine[step].dtype}; w is of {want.dtype}."
            if mine[step].shape != want.shape or not torch.allclose(mine[step], want, rtol=1e-12, atol=1e-12):
                why = f"before it comes {before}" if step else "it is not the start w"
                return f"{begins} that is wrong, the first one: {why}."
    return f"Each of the {steps} steps begins with the right w: look at what comes after the last one." if steps else ""


def repeated(seen: Seen) -> list[Fault]:
    """Right values, and gradients that nobody needs."""
    fault = first([STEPS], *(seen.returned[rank]["found"] for rank in seen.case.members))
    return [replace(fault, message=f"With {seen.case}: {fault.message}")] if fault else []
