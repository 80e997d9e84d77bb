"""Watching a function that numba compiles: what it returns, and what its machine code says. And the findings that all
such exercises share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any

from lockstep.checks.failures import HANGS
from lockstep.checks.guard import LibraryAnswer, refused
from lockstep.checks.judge import Fault, Finding
from lockstep.checks.observation import Failure, Observation
from lockstep.checks.observe import Ungraded

MOST_LINES = 40  # of machine code in a finding
PATIENCE = 35.0  # seconds for a check: right answers have taken ten of a busy machine to compile
SLOW = (
    "If all of them end, compiling has taken the time: expressions on whole rows or blocks compile slowly. Write loops "
    "over elements, or run the check again when less is going on."
)


def compiled(fn: Callable[..., Any]) -> dict[str, Any]:
    """Whether ``fn`` is compiled, and with which options. Raises LibraryAnswer if it uses the library's own kernel."""
    from numba import config

    from lockstep.cpu.compiled import is_compiled

    _refuse_borrowed(fn, set())
    options = getattr(fn, "targetoptions", {})
    return {
        "compiled": is_compiled(fn),
        "parallel": bool(options.get("parallel")),
        "fastmath": bool(options.get("fastmath")),
        "disabled": bool(config.DISABLE_JIT),  # then @njit does nothing
    }


def code(fn: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    """The hottest loop of the machine code for such arguments, as numbers and text; empty if it is not compiled."""
    from lockstep.cpu.assembly import calls, hottest, innermost_loops, is_readable
    from lockstep.cpu.compiled import is_compiled, machine_code

    if not is_compiled(fn):
        return {}
    text = machine_code(fn, *arguments)
    loops = innermost_loops(text)
    loop = hottest([lp for lp in loops if lp.chains]) or hottest(loops)
    called = calls(text)
    found: dict[str, Any] = {
        "readable": is_readable(text),
        "allocates": any("NRT_Allocate" in name or "NRT_MemInfo_alloc" in name for name in called),
        "blas": any("numba_xx" in name or "gemm" in name for name in called),
        "loops": len(loops),
    }
    if loop is None:
        return found
    lines = str(loop).splitlines()
    shown = lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], f"    ... and {len(lines) - MOST_LINES} more"]
    return found | {
        "text": "\n".join(shown),
        "lanes": loop.chains[0].lanes if loop.chains else loop.lanes,
        "bits": loop.element_bits,
        "register": loop.register_bits,
        "chains": len(loop.chains),
        "stores": loop.stores,
        "accumulators": loop.accumulators,
    }


def attempt(fn: Callable[..., Any], *arguments: Any) -> tuple[Any, str]:
    """What ``fn`` returns, and why numba could not compile it: one of them is empty."""
    from numba.core.errors import NumbaError

    try:
        return fn(*arguments), ""
    except NumbaError as error:
        return None, _explained(str(error))


def _explained(text: str) -> str:
    """The lines of numba's message that speak of the learner's code."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    start = next((n for n, line in enumerate(lines) if "Failed in" not in line), 0)
    end = next((n + 6 for n, line in enumerate(lines) if line.startswith('File "')), start + 8)
    return "\n".join(lines[start : max(end, start + 1)])[:1500]


def uncompilable(problem: str) -> Fault | None:
    """What numba said, and what to do if it is the most frequent reason."""
    if not problem:
        return None
    plain_helper = "Untyped global name" in problem and "class 'function'" in problem
    advice = " A function that it calls is not compiled: write @njit above that one's def, too." if plain_helper else ""
    if "No matching definition for argument type" in problem:
        advice += (
            " You have named types in @njit(...), and the arrays have others. Leave them out; or say float32[::1], an "
            "array without gaps, where float32[:] may have some."
        )
    return Fault("does-not-compile", f"numba cannot compile your function.{advice}\n{problem}")


def interpreted(how: dict[str, Any], decorator: str = "@njit") -> Fault | None:
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


def patient(findings: list[Finding], observation: Observation) -> list[Finding]:
    """Where time ran out, and not at a line of the function run in Python, it may have gone into compiling."""
    return [_late(f, observation.failure_with(f.case)) for f in findings]


def _late(finding: Finding, failure: Failure | None) -> Finding:
    if failure is None or failure.kind not in HANGS or failure.where:
        return finding
    told = f"your function and its compiling did not end within {failure.limit:g} seconds.\n{failure.remedy}"
    return replace(finding, message=f"With {finding.case}: {told}\n{SLOW}")


def common_faults(how: dict[str, Any], found: dict[str, Any]) -> Iterator[Fault]:
    """What holds for every kernel, before its loop is looked at. Raises Ungraded for code that cannot be read."""
    fault = interpreted(how)
    if fault:
        yield fault
        return
    if not found["readable"]:
        raise Ungraded("This machine's code is neither x86-64 nor aarch64: the check cannot read it.")
    if found["blas"]:
        yield Fault("library-call", "But the work is done by a library that you call: write the loop yourself.")
    elif how["parallel"]:
        yield Fault(
            "threads",
            "But parallel=True divides the work among threads, and prange asks for memory to do so. This exercise is "
            "about one core: take parallel=True away, and write range.",
        )
    elif found["allocates"]:
        yield Fault(
            "temporary-array",
            "But your machine code asks for memory: an expression such as x * y on whole arrays makes a new array, "
            "which is written and read once more. Write one loop over the elements.",
        )
    elif "lanes" not in found:
        yield Fault(
            "no-loop", "But no loop of your machine code computes with floating-point numbers: who does the work?"
        )


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
    cells = [c.cell_contents for c in plain.__closure__ or ()]
    named = [plain.__globals__[n] for n in plain.__code__.co_names if n in plain.__globals__]
    for value in (*named, *cells):
        _refuse_borrowed(value, seen)
