"""What the four compiled exercises share: how a call is made, what is written down of it, and what is said of any.

Each call runs twice. First in Python, on traced arrays, where an index outside of an array is an error and each access
is seen; then compiled. Of the largest call the machine code is read as well: that for one CPU, the same for everybody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from lockstep.checks.guard import LibraryAnswer, refused
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.observe import Ungraded
from lockstep.cpu.assembly import calls, hottest, innermost_loops, is_readable
from lockstep.cpu.compiled import common_cpu, compiling_problem, is_compiled, machine_code
from lockstep.cpu.traced import Memory
from lockstep.cpu.trial import Trial, try_in_python
from lockstep.cpu.twins import named

MOST_LINES = 40  # of machine code in a finding
PATIENCE = 35.0  # seconds for a check: right answers have taken ten of a busy machine to compile
LATE = (
    "If all of them end, compiling has taken the time: expressions on whole rows or blocks compile slowly. Write loops "
    "over elements, or run the check again when less is going on."
)
HINTS = (("crashed:TimeLimit", LATE), ("crashed:Stuck", LATE))
Evidence = dict[str, Any]


@dataclass(frozen=True)
class Kernel:
    """``result(returned, arguments)`` is what a call gave, as plain data; ``facts(trial)`` what its run in Python showed.
    The machine code is read of the call whose first array has ``read`` elements, and such a kernel's own errors are
    left to its compiler."""

    names: tuple[str, ...]  # of the parameters
    result: Callable[[Any, tuple[Any, ...]], Any]
    facts: Callable[[Trial], Evidence]
    read: int = 0
    memory: Callable[[tuple[Any, ...]], Memory | None] = lambda arguments: None

    def watch(self, fn: Callable[..., Any], arguments: tuple[Any, ...]) -> Evidence:
        _refuse_borrowed(fn, set())
        found = {**_how(fn), **self.beside(fn, arguments), "uncompilable": None, "result": None, "code": {}}
        if found["problem"]:
            return found
        if is_compiled(fn) and (problem := compiling_problem(fn, *arguments)):
            return {**found, "uncompilable": problem}
        found["result"] = self.result(fn(*arguments), arguments)
        largest = self.read and any(isinstance(a, np.ndarray) and a.size == self.read for a in arguments)
        return {**found, "code": code(fn, *arguments)} if largest and is_compiled(fn) else found

    def beside(self, fn: Callable[..., Any], arguments: tuple[Any, ...]) -> Evidence:
        """The run in Python alone: so known wrong answers are compared, which need no compiling for it."""
        try:
            trial = try_in_python(fn, self.names, *arguments, memory=self.memory(arguments))
        except Exception:
            if not self.read:
                raise
            return {"problem": "", "python": None}  # the compiler says what
        found = {"problem": trial.problem, "told": trial.told, "where": trial.where, "python": None}
        if trial.problem in ("", "library-call") and self.read:
            found["problem"] = ""  # the machine code says what is called
        if trial.problem:
            return found
        return {**found, "python": self.result(trial.returned, trial.arguments), **self.facts(trial)}


def alike(seen: Seen) -> list[Any]:
    """What known wrong answers are compared by: the results of the runs in Python."""
    return [evidence["python"] for evidence in seen.returned[0]]


def _how(fn: Callable[..., Any]) -> Evidence:
    """Whether ``fn`` is compiled, and with which options."""
    from numba import config

    options = getattr(fn, "targetoptions", {})
    return {
        "compiled": is_compiled(fn),
        "parallel": bool(options.get("parallel")),
        "fastmath": bool(options.get("fastmath")),
        "disabled": bool(config.DISABLE_JIT),  # then @njit does nothing
    }


def code(fn: Callable[..., Any], *arguments: Any) -> Evidence:
    """The hottest loop of the machine code for such arguments, as numbers and text."""
    text = machine_code(fn, *arguments, cpu=common_cpu())
    loops = innermost_loops(text)
    loop = hottest([lp for lp in loops if lp.chains]) or hottest(loops)
    called = calls(text)
    found: Evidence = {
        "readable": is_readable(text),
        "allocates": any("NRT_Allocate" in name or "NRT_MemInfo_alloc" in name for name in called),
        "blas": any("numba_xx" in name or "gemm" in name for name in called),
    }
    if loop is None:
        return found
    lines = str(loop).splitlines()
    shown = lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], f"    ... and {len(lines) - MOST_LINES} more"]
    return found | {
        "text": "\n".join(shown),
        "lanes": loop.chains[0].lanes if loop.chains else loop.lanes,
        "bits": loop.element_bits,
        "chains": len(loop.chains),
        "stores": loop.stores,
        "accumulators": loop.accumulators,
    }


def _refuse_borrowed(fn: Any, seen: set[int]) -> None:
    """Numba inlines what it calls, so that nothing is left to refuse at run time: look at what the function names."""
    package = refused().rpartition(".")[0]
    if not package or id(fn) in seen:
        return
    seen.add(id(fn))
    plain = getattr(fn, "py_func", fn)
    if isinstance(plain, ModuleType) and f"{plain.__name__}.".startswith("lockstep."):
        raise LibraryAnswer("a module of the library is used in the function")
    if not isinstance(plain, FunctionType):
        return
    if plain.__module__ and plain.__module__.startswith(package):
        raise LibraryAnswer("this is the library's own answer, which you are asked to write")
    for value in named(plain):
        _refuse_borrowed(value, seen)


# ---- what is said


def unfit(begin: str, evidence: Evidence) -> Fault | None:
    """What the run in Python or the compiler found, told to the learner."""
    problem, told = evidence["problem"], evidence.get("told", "")
    at = f"\n{evidence['where']}" if evidence.get("where") else ""
    if problem == "endless":
        does_it = "Does every loop end? Look at what should change in each turn."
        return Fault(problem, f"{begin}run in Python, it had not ended after {told}. {does_it}{at}")
    if problem == "library-call":
        return Fault(problem, f"{begin}{told} Write the loops yourself: that is the exercise.{at}")
    if problem == "out-of-bounds":
        why = "Compiled code does not look: it reads or overwrites whatever lies there."
        return Fault(problem, f"{begin}{told}. {why} Does the index run too far, or is the array too small?{at}")
    return _uncompilable(evidence["uncompilable"]) if evidence["uncompilable"] else None


def _uncompilable(problem: Evidence) -> Fault:
    advice = ""
    if problem["plain"]:
        advice = f" {problem['plain'][0]}, which it calls, is not compiled: write @njit above that one's def, too."
    elif problem["declared"]:
        advice = (
            " You have named types in @njit(...), and the arrays have others. Leave them out; or say float32[::1], an "
            "array without gaps, where float32[:] may have some."
        )
    return Fault("does-not-compile", f"numba cannot compile your function.{advice}\n{problem['told']}")


def interpreted(how: Evidence, decorator: str = "@njit") -> Fault | None:
    """Whether it is not compiled. Raises Ungraded where numba compiles nothing."""
    if how["compiled"]:
        return None
    if how["disabled"]:
        raise Ungraded(
            "numba compiles nothing here: NUMBA_DISABLE_JIT is set.", "Unset that variable and restart the kernel."
        )
    return Fault(
        "not-compiled",
        "But it is interpreted, not compiled: Python looks up the types at every step. Write "
        f"{decorator} in the line above your def.",
    )


def of_any_kernel(evidence: Evidence, elements: int) -> Iterator[Fault]:
    """What holds for every kernel, before its loop is looked at. Raises Ungraded for code that cannot be read."""
    fault, found = interpreted(evidence), evidence["code"]
    if fault:
        yield fault
    elif not found["readable"]:
        raise Ungraded("This machine's code is neither x86-64 nor aarch64: the check cannot read it.")
    elif found["blas"]:
        yield Fault("library-call", "But the work is done by a library that you call: write the loop yourself.")
    elif evidence["parallel"]:
        yield Fault(
            "threads",
            "But parallel=True divides the work among threads. This exercise is about one core: take parallel=True "
            "away, and write range.",
        )
    elif found["allocates"] and evidence.get("temporary", elements) >= elements:
        yield Fault(
            "temporary-array",
            "But it makes another array as long as x: an expression such as x * y on whole arrays does, and what it "
            "holds is written and read once more. Write one loop over the elements.",
        )
    elif "lanes" not in found:
        yield Fault(
            "no-loop", "But no loop of your machine code computes with floating-point numbers: who does the work?"
        )


def skipped(name: str, uses: np.ndarray[Any, Any], verb: str = "read") -> str:
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


def repeated(name: str, uses: np.ndarray[Any, Any]) -> str:
    """Which elements were read twice, where most were read once; empty if none was."""
    at = np.flatnonzero(uses > 1)
    if not len(at) or 2 * len(at) > uses.size:
        return ""
    others = f", and so are {len(at) - 1} more" if len(at) > 1 else ""
    return f"{name}[{at[0]}] is read {uses[at[0]]} times{others}."


IN_FLOAT32 = "That is as near as float32 comes: the arrays are float64, so compute in float64. 0.0 is one."


def as_float32(held: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any], size: Any) -> bool:
    """Whether a result is off by no more than float32 rounds, beside the ``size`` of what was added."""
    return bool((np.abs(held - wanted) <= 2.0**-20 * size).all())


def first(faults: Sequence[Fault | None]) -> Fault | None:
    return next((fault for fault in faults if fault), None)
