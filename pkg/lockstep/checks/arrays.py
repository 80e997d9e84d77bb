"""Pure exercises about arrays: rules judge what a watch records of each call, and the result is compared element by
element.

The evidence has the "result" and its "name"; and where there are arrays that must stay as they are, these, in "arrays",
as the call has left them (None for a number), and the "names" of the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Evidence, Rule, first
from lockstep.checks.exercise import Compared, Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import apart, number_of
from lockstep.checks.observation import Seen
from lockstep.checks.values import told
from lockstep.checks.wording import counted

Call = tuple[Any, ...]


@dataclass(frozen=True)
class Arrays:
    """How calls that return or fill an array are judged.

    ``wanted(*arguments)`` is the right array or number; ``asked`` names its kind in a sentence. ``told`` names the
    call, with its arguments in braces. ``remark(evidence, fault)`` adds to a fault of wrong values;
    ``aside(arguments, evidence, at)`` helps where nobody knows the mistake: ``at`` is the first wrong element."""

    calls: Callable[[Case], Sequence[Call]]
    wanted: Callable[..., Any]
    rules: Sequence[Rule] = ()
    asked: str = "a NumPy array"
    told: str = ""  # or the case
    tolerance: float = 0.0  # how far an element may be off, relatively: any order of operations is right
    arguments: Callable[[Call], Call] = lambda call: call
    remark: Callable[[Evidence, Fault], Fault] = lambda evidence, fault: fault
    aside: Callable[[Call, Evidence, tuple[int, ...]], str] = lambda arguments, evidence, at: ""

    def exercise(self, **fields: Any) -> Exercise:
        """An exercise that is judged in this way."""
        exercise = Exercise(inputs=lambda case, rank: self.calls(case), worlds=(1,), pure=True, **fields)
        return replace(
            exercise,
            values=replace(exercise.values, examine=self.examine),
            comparison=replace(exercise.comparison, tensors=self.tensors),
        )

    def examine(self, seen: Seen) -> Fault | None:
        """What is wrong with the first call that is not right."""
        for arguments, evidence in self._rows(seen):
            fault = first(self.rules, evidence) or _changed(arguments, evidence) or self._wrong(arguments, evidence)
            if fault:
                which = self.told.format(*arguments) or seen.case
                return replace(fault, message=f"With {which}: {fault.message}")
        return None

    def tensors(self, seen: Seen) -> Compared:
        rows = [(e.get("result"), self.wanted(*arguments), arguments[-1]) for arguments, e in self._rows(seen)]
        held, wanted, last = zip(*[row for row in rows if np.size(row[1])], strict=True)
        before = [_tensor(one) if np.ndim(one) else None for one in last]
        return [_tensor(h) for h in held], [_tensor(w) for w in wanted], before

    def _rows(self, seen: Seen) -> Iterator[tuple[Call, Evidence]]:
        return zip(map(self.arguments, self.calls(seen.case)), seen.returned[0], strict=True)

    def _wrong(self, arguments: Call, evidence: Evidence) -> Fault | None:
        held, wanted, name = _tensor(evidence["result"]), _tensor(self.wanted(*arguments)), evidence["name"]
        if not isinstance(held, Tensor):
            return Fault("wrong-type", f"it returns {told(held)}; {self.asked} is wanted.")
        if held.shape != wanted.shape:
            return Fault("wrong-shape", f"{name} has the shape {tuple(held.shape)}, not {tuple(wanted.shape)}.")
        if held.dtype != wanted.dtype:
            kinds = [str(value.dtype).removeprefix("torch.") for value in (held, wanted)]
            return Fault("wrong-dtype", f"{name} is of {kinds[0]}, not of {kinds[1]}.")
        near = (
            torch.isclose(held, wanted, rtol=self.tolerance, atol=self.tolerance) if self.tolerance else held == wanted
        )
        wrong = (~near).nonzero().tolist()
        if not wrong:
            return None
        at, before = tuple(wrong[0]), arguments[-1]
        there, right = apart(held[at].item(), wanted[at].item())
        if np.shape(before) == tuple(held.shape) != () and before[at] == held[at]:
            there = "as it was"
        place = f"{name}{list(at)}" if at else name
        many = f" ({len(wrong):,} of {counted(wanted.numel(), 'element')} differ)" if wanted.numel() > 1 else ""
        aside = self.aside(arguments, evidence, at)
        return self.remark(evidence, Fault("wrong-values", f"{place} is {there}, not {right}{many}.", aside))


def with_ones(value: float, right: float) -> str:
    """An element of a result of ones: it counts what comes into a sum, or into a sum of products."""
    return f"{value:g}, as it should be" if value == right else f"{value:g}, and should be {right:g}"


def given_there(*names: str) -> Callable[[Call, Evidence, tuple[int, ...]], str]:
    """An aside: the numbers among the arguments, and what the arrays held at the wrong element."""

    def told_before(arguments: Call, evidence: Evidence, at: tuple[int, ...]) -> str:
        pairs = zip(names, arguments, strict=True)
        held = [(f"{n}{list(at)}", a[at]) if isinstance(a, np.ndarray) else (n, a) for n, a in pairs]
        return f"Before the call: {', '.join(f'{name} = {float(value):.10g}' for name, value in held)}."

    return told_before


def _changed(arguments: Call, evidence: Evidence) -> Fault | None:
    """The first array that is not as it was given."""
    for name, held, before in zip(evidence.get("names", ()), evidence.get("arrays", ()), arguments, strict=False):
        if held is not None and not torch.equal(held, _tensor(before)):
            return Fault("wrong-array", f"it changes {name}, which is only to be read.", telling=True)
    return None


def _tensor(value: Any) -> Any:
    """Of an array or a number; anything else as it is."""
    if isinstance(value, np.ndarray):
        return torch.tensor(value)
    number = None if isinstance(value, Tensor) else number_of(value)
    return value if number is None else torch.tensor(number, dtype=torch.float64)
