"""The machine code that numba's compiler writes for a function.

It depends on the target CPU: the width of its registers, and what the compiler considers profitable there.
``machine_code`` compiles for this machine's CPU, or for any other that LLVM knows.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from types import FunctionType
from typing import Any

from lockstep.cpu.assembly import Loop, hottest, innermost_loops, is_readable
from lockstep.cpu.rebound import blank, named, rewire
from lockstep.errors import UsageError

# One CPU for everybody: registers of 256 bits on x86-64, of 128 bits on aarch64.
COMMON = {"x86_64": "znver3", "AMD64": "znver3", "aarch64": "generic", "arm64": "generic"}


def common_cpu() -> str:
    """LLVM's name of a CPU of this machine's architecture, the same for everybody; empty for an unknown
    architecture."""
    return COMMON.get(platform.machine(), "")


def is_compiled(function: Any) -> bool:
    """Whether ``function`` was decorated with ``@njit``."""
    return hasattr(function, "inspect_asm") and hasattr(function, "py_func")


def machine_code(function: Callable[..., Any], *arguments: Any, cpu: str = "", strict: bool = False) -> str:
    """The assembly text of ``function`` for arguments of these types. It is compiled, and not called.

    ``cpu``: a target in LLVM's words, such as "znver3"; by default this machine. ``strict``: without fastmath, even if
    the function has it, so that all operations keep the order in which they are written. Raises UsageError for a
    function that is not compiled.
    """
    import numba

    if not is_compiled(function):
        raise UsageError(
            f"{getattr(function, '__name__', 'This function')} is not compiled, so it has no machine code of its own.",
            "Write @njit in the line above its def (from numba import njit).",
        )
    types = tuple(numba.typeof(a) for a in arguments)
    if not cpu and not strict:
        return _compiled(function, types)
    declared: list[tuple[Any, ...]] = function.signatures  # type: ignore[attr-defined]
    dropped = ("nopython", "fastmath") if strict else ("nopython",)
    with _codegen_for(cpu) if cpu else nullcontext():
        return _compiled(_anew(function, {}, dropped), types if types in declared or not declared else declared[-1])


def _compiled(function: Any, types: tuple[Any, ...]) -> str:
    with suppress(RuntimeError):  # @njit(...) declares types, and numba compiles for no others
        function.compile(types)
    codes: dict[Any, str] = function.inspect_asm()
    return next((code for signature, code in codes.items() if tuple(signature) == types), list(codes.values())[-1])


def _anew(function: Any, known: dict[int, Any], dropped: Sequence[str]) -> Any:
    """A copy of a function that is not compiled yet, and of all compiled functions that it uses by name; without the
    ``dropped`` options."""
    import numba

    if id(function) in known or not is_compiled(function) or not isinstance(function.py_func, FunctionType):
        return known.get(id(function), function)
    twin = blank(function.py_func)
    options = {name: value for name, value in function.targetoptions.items() if name not in dropped}
    known[id(function)] = numba.njit(**options)(twin)
    rewire(twin, function.py_func, lambda value: _anew(value, known, dropped))
    return known[id(function)]


@contextmanager
def _codegen_for(cpu: str) -> Iterator[None]:
    """Compile for ``cpu`` inside. Such code is to be read, and must not be called."""
    from numba.core import codegen, config
    from numba.core.registry import cpu_target

    context = cpu_target.target_context
    own, before = context._internal_codegen, (config.CPU_NAME, config.CPU_FEATURES)
    config.CPU_NAME, config.CPU_FEATURES = cpu, ""
    try:
        context._internal_codegen = codegen.JITCPUCodegen("numba.exec")
        config.CPU_NAME, config.CPU_FEATURES = before
        yield
    finally:
        config.CPU_NAME, config.CPU_FEATURES = before
        context._internal_codegen = own


def compiling_problem(function: Any, *arguments: Any) -> dict[str, Any] | None:
    """Why ``function`` cannot be compiled for such arguments; None if it can. ``told``: the compiler's message;
    ``plain``: the functions that it calls and that are not compiled; ``declared``: whether @njit(...) declares
    types."""
    import numba

    types = tuple(numba.typeof(a) for a in arguments)
    if function.signatures and not function._can_compile:
        if any(_takes(signature, types) for signature in function.signatures):
            return None
        return {"told": f"The arguments are {', '.join(map(str, types))}.", "plain": [], "declared": True}
    try:
        function.compile(types)
    except Exception as error:  # numba has many kinds, and not all of them are NumbaErrors
        return {"told": _shortened(str(error)), "plain": _plain_functions(function.py_func), "declared": False}
    return None


def _takes(signature: tuple[Any, ...], types: tuple[Any, ...]) -> bool:
    from numba.core.registry import cpu_target

    can = cpu_target.typing_context.can_convert
    pairs = zip(types, signature, strict=False)
    return len(signature) == len(types) and all(can(given, wanted) is not None for given, wanted in pairs)


def _plain_functions(function: FunctionType) -> list[str]:
    """The names of uncompiled functions of the same module that a function uses."""
    found = [value for value in named(function) if isinstance(value, FunctionType)]
    return [value.__name__ for value in found if value.__module__ == function.__module__]


def _shortened(text: str) -> str:
    """The lines of numba's message that are about the program: the first ones after its heading."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return "\n".join(lines[1:10] if len(lines) > 1 else lines)[:1500]


def inner_loop(function: Callable[..., Any], *arguments: Any, strict: bool = False) -> Loop:
    """The innermost loop that computes the most numbers per turn; ``strict``: without fastmath. Raises UsageError if
    there is none, or on an architecture that ``assembly`` does not read."""
    text = machine_code(function, *arguments, strict=strict)
    if not is_readable(text):
        raise UsageError("This machine's code is neither x86-64 nor aarch64; only those are read here.")
    loop = hottest(innermost_loops(text))
    if loop is None:
        raise UsageError(
            "No loop of the compiled function computes with floating-point numbers.",
            "Write the loop yourself: what a library call does is not in your machine code.",
        )
    return loop
