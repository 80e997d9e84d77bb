"""From a function that numba compiles to what its compiler wrote."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from lockstep.cpu.assembly import Loop, hottest, innermost_loops, is_readable
from lockstep.errors import UsageError


def is_compiled(function: Callable[..., Any]) -> bool:
    """Whether numba compiles it: it was decorated with ``@njit``."""
    return hasattr(function, "inspect_asm") and hasattr(function, "py_func")


def machine_code(function: Callable[..., Any], *arguments: Any) -> str:
    """The assembly text of ``function`` for arguments of these types. It is compiled, and not called."""
    import numba

    if not is_compiled(function):
        raise UsageError(
            f"{getattr(function, '__name__', 'This function')} is not compiled, so it has no machine code of its own.",
            "Write @njit in the line above its def (from numba import njit).",
        )
    types = tuple(numba.typeof(a) for a in arguments)
    with suppress(RuntimeError):  # its author named the types in @njit(...), and numba compiles for no others
        function.compile(types)  # type: ignore[attr-defined]
    codes: dict[Any, str] = function.inspect_asm()  # type: ignore[attr-defined]
    return next((code for signature, code in codes.items() if tuple(signature) == types), list(codes.values())[-1])


def inner_loop(function: Callable[..., Any], *arguments: Any) -> Loop:
    """The innermost loop that computes the most numbers a turn. Raises UsageError if there is none to be read."""
    text = machine_code(function, *arguments)
    if not is_readable(text):
        raise UsageError("This machine's code is neither x86-64 nor aarch64; only those are read here.")
    loop = hottest(innermost_loops(text))
    if loop is None:
        raise UsageError(
            "No loop of the compiled function computes with floating-point numbers.",
            "Write the loop yourself: what a library call does is not in your machine code.",
        )
    return loop
