"""What the four compiled exercises share: how their values are judged, and what is said of any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from lockstep.checks.exercise import Exercise
from lockstep.checks.guard import refuse_borrowed
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import number_of
from lockstep.checks.observation import Seen
from lockstep.checks.observe import Ungraded
from lockstep.checks.transforms import changed_tensors
from lockstep.checks.values import told
from lockstep.cpu.observed import Evidence, Kernel

PATIENCE = 35.0  # seconds for a check: right answers have taken ten of a busy machine to compile
LATE = (
    "If all of them end, it may be the compiling: expressions on whole rows or blocks compile slowly. Write loops over "
    "elements, or run the check again when less is going on."
)
IN_FLOAT32 = "float32 would not show so small a difference: is anything in float32? The arrays, and 0.0, are float64."
Call = tuple[Any, ...]


@dataclass(frozen=True)
class Values:
    """What is right. ``begin``, ``wanted``, ``before`` and ``size`` are asked for the arguments of a call."""

    begin: Callable[..., str]  # "With 39 elements"
    wanted: Callable[..., Any]  # an array or a number
    asked: str  # as in "it returns nothing (None); {asked} is wanted"
    reads: tuple[str, ...] = ()  # arrays of which each element has to be read
    writes: tuple[str, ...] = ()
    own: Callable[[Call, Evidence], Fault | None] = lambda call, evidence: None  # what else may be wrong
    held: Callable[[Any], Any] = lambda result: result
    before: Callable[..., Any] = lambda *call: None  # an array that is changed in place
    size: Callable[..., Any] = lambda *call: (
        0.0
    )  # of float64: the absolute values added, of which float32 rounds a part

    def examine(self, inputs: Callable[..., Any], seen: Seen) -> Fault | None:
        rows = zip(inputs(seen.case, 0), seen.returned[0], strict=True)
        faults = ((call, self._wrong(call, evidence)) for call, evidence in rows)
        found = next(((call, fault) for call, fault in faults if fault), None)
        return found and Fault(found[1].misconception, f"{self.begin(*found[0])}: {found[1].message}")

    def _wrong(self, call: Call, evidence: Evidence) -> Fault | None:
        fault = _unfit(evidence) or self.own(call, evidence)
        if fault:
            return fault
        held, wanted = self.held(evidence["result"]), _tensor(self.wanted(*call))
        held = held if isinstance(held, torch.Tensor) or number_of(held) is None else _tensor(number_of(held))
        if not isinstance(held, torch.Tensor):
            return Fault("wrong-type", f"it returns {told(held)}; {self.asked} is wanted.")
        if held.shape != wanted.shape:
            return Fault("wrong-shape", f"the result has the shape {tuple(held.shape)}, not {tuple(wanted.shape)}.")
        if held.dtype != wanted.dtype:
            kinds = [str(value.dtype).removeprefix("torch.") for value in (held, wanted)]
            return Fault("wrong-dtype", f"the result is an array of {kinds[0]}, not of {kinds[1]}.")
        return None if torch.equal(held, wanted) else self._off(call, evidence, held, wanted)

    def _off(self, call: Call, evidence: Evidence, held: torch.Tensor, wanted: torch.Tensor) -> Fault:
        """What was read and written, how far off the values are, or a simple change of them."""
        at = tuple(map(int, (held != wanted).nonzero()[0]))
        where = f"element {', '.join(map(str, at))} of the result" if at else "the result"
        begin = f"{where} is {held[at].item()!r}, not {wanted[at].item()!r}."
        read, written = ({n: np.array(u) for n, u in evidence.get(k, {}).items()} for k in ("read", "written"))
        before = self.before(*call)
        change = changed_tensors([held], [wanted], [None if before is None else _tensor(before)])
        near = bool(((held - wanted).abs() <= 2.0**-20 * torch.as_tensor(self.size(*call))).all())
        sentences = (
            ("never-read", [_skipped(name, read[name], "read") for name in self.reads if name in read]),
            ("never-written", [_skipped(name, written[name], "written") for name in self.writes if name in written]),
            ("read-twice", [_repeated(name, read[name]) for name in self.reads if name in read]),
            ("offset", [_offset(held - wanted)]),
            ("single-precision", [IN_FLOAT32 if near else ""]),
            (change[0], [change[1]]) if change else ("", []),
        )
        for id, found in sentences:
            if any(found):
                return Fault(id, " ".join([begin, *filter(None, found)]))
        return Fault("wrong-values", begin)


def compiled_exercise(kernel: Kernel, values: Values, **fields: Any) -> Exercise:
    """An Exercise whose answers are compiled by numba: called as ``kernel`` says, and judged by ``values``."""
    return Exercise(
        examine=partial(values.examine, fields["inputs"]),
        alike=lambda seen: [evidence["python"] for evidence in seen.returned[0]],
        hints=(("crashed:TimeLimit", LATE), ("crashed:Stuck", LATE)),
        beside=kernel.in_python,
        worlds=(1,),
        pure=True,
        real=True,
        seconds=PATIENCE,
        **{"watch": partial(watch, kernel), **fields},
    )


def watch(kernel: Kernel, fn: Callable[..., Any], arguments: Call) -> Evidence:
    refuse_borrowed(fn)
    return kernel.observe(fn, arguments)


def _tensor(value: Any) -> torch.Tensor:
    return torch.from_numpy(value) if isinstance(value, np.ndarray) else torch.tensor(value, dtype=torch.float64)


def _unfit(evidence: Evidence) -> Fault | None:
    """What the run in Python or the compiler found, told to the learner."""
    problem, said, failed = evidence["problem"], evidence.get("told", ""), evidence["uncompilable"]
    at = f"\n{evidence['where']}" if evidence.get("where") else ""
    if problem == "endless":
        does_it = "Does every loop end? Look at what should change in each turn."
        return Fault(problem, f"run in Python, it had not ended after {said}. {does_it}{at}")
    if problem == "library-call":
        return Fault(problem, f"{said} Write the loops yourself: that is the exercise.{at}")
    if problem == "out-of-bounds":
        why = "Compiled code does not look: it reads or overwrites whatever lies there."
        return Fault(problem, f"{said}. {why} Does the index run too far, or is the array too small?{at}")
    if not failed:
        return None
    advice = ""
    if failed["plain"]:
        advice = f" {failed['plain'][0]}, which it calls, is not compiled: write @njit above that one's def, too."
    elif failed["declared"]:
        advice = (
            " You have named types in @njit(...), and the arrays have others. Leave them out; or say float32[::1], an "
            "array without gaps, where float32[:] may have some."
        )
    return Fault("does-not-compile", f"numba cannot compile your function.{advice}\n{failed['told']}")


def interpreted(evidence: Evidence, decorator: str = "@njit") -> Fault | None:
    """Whether it is not compiled. Raises Ungraded where numba compiles nothing."""
    if evidence["compiled"]:
        return None
    if evidence["disabled"]:
        off = "numba compiles nothing here: NUMBA_DISABLE_JIT is set."
        raise Ungraded(off, "Unset that variable and restart the kernel.")
    why = "But it is interpreted, not compiled: Python looks up the types at every step."
    return Fault("not-compiled", f"{why} Write {decorator} in the line above your def.")


def of_any_loop(evidence: Evidence, elements: int) -> Iterator[Fault]:
    """What is said before the hottest loop is looked at. Raises Ungraded for code that cannot be read."""
    fault, found = interpreted(evidence), evidence["code"]
    if fault:
        yield fault
    elif not found["readable"]:
        raise Ungraded("This machine's code is neither x86-64 nor aarch64: the check cannot read it.")
    elif found["blas"]:
        yield Fault("library-call", "But the work is done by a library that you call: write the loop yourself.")
    elif evidence["parallel"]:
        threads = "But parallel=True divides the work among threads. This exercise is about one core"
        yield Fault("threads", f"{threads}: take parallel=True away, and write range.")
    elif found["allocates"] and evidence.get("temporary", elements) >= elements:
        another = "But it makes another array as long as x: an expression such as x * y on whole arrays does, and"
        yield Fault("temporary-array", f"{another} it is written and read once more. Write one loop over the elements.")
    elif "lanes" not in found:
        yield Fault("no-loop", "But no loop of your machine code computes with floating-point numbers: who does it?")


def _skipped(name: str, uses: np.ndarray[Any, Any], verb: str) -> str:
    """Which elements were never used, in a sentence; empty if each was."""
    at = np.argwhere(uses == 0)
    if not len(at):
        return ""
    first, last = (f"{name}[{', '.join(map(str, index))}]" for index in (at[0], at[-1]))
    if len(at) == 1:
        return f"{first} is never {verb}."
    if uses.ndim == 1 and at[-1][0] - at[0][0] + 1 == len(at):
        return f"{first} to {last} are never {verb}."
    return f"{len(at)} elements of {name} are never {verb}, {first} and {last} among them."


def _offset(off: torch.Tensor) -> str:
    """Whether all elements are too large by the same."""
    by = off.flatten()[0].item()
    if off.numel() < 2 or bool((off != by).any()):
        return ""
    return f"Every element is {abs(by):g} too {'large' if by > 0 else 'small'}."


def _repeated(name: str, uses: np.ndarray[Any, Any]) -> str:
    """Which elements were read twice, where most were read once; empty if none was."""
    at = np.flatnonzero(uses > 1)
    if not len(at) or uses.ndim > 1 or 2 * len(at) > uses.size:
        return ""
    others = f", and {len(at) - 1} more are read again" if len(at) > 1 else ""
    return f"{name}[{at[0]}] is read {uses[at[0]]} times{others}."
