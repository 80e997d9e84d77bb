"""Run a compiled function as plain Python, and see what it does to memory.

What numba compiles is plain Python, too. ``trace`` runs it as such, on small traced arrays. What the function names is
replaced on the way: NumPy's ``zeros`` and its kind give traced arrays, ``prange`` says which worker each turn belongs
to, and other compiled functions are run in Python.

The compiler may keep in a register what the program writes to memory in every turn; so this is what the *program* asks
of the memory, not what one compiler made of it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from lockstep.cpu.rebound import blank, rewire
from lockstep.cpu.traced import Memory, TracedArray

_MAKERS = ("zeros", "empty", "ones", "full", "zeros_like", "empty_like", "ones_like", "full_like")
_COPIERS = ("array", "copy", "asarray", "ascontiguousarray")


def trace(function: Callable[..., Any], memory: Memory, *arguments: Any) -> Any:
    """Call ``function`` as plain Python on traced ``arguments``; what happened is in ``memory.accesses``."""
    return _stand_in(function, memory, {})(*arguments)


def _stand_in(value: Any, memory: Memory, known: dict[int, Any]) -> Any:
    """What takes the place of ``value``, which the traced function names."""
    if id(value) in known:
        return known[id(value)]
    if isinstance(value, ModuleType) and value.__name__ in ("numpy", "numba"):
        return _Module(value, memory)
    if getattr(value, "__module__", "") == "numpy" and getattr(value, "__name__", "") in _MAKERS:
        return _maker(value, memory)
    if getattr(value, "__module__", "") == "numpy" and getattr(value, "__name__", "") in _COPIERS:
        return _copier(value)
    known_to_numba = {
        "prange": memory.prange,
        "get_num_threads": lambda: memory.workers,
        "get_thread_id": lambda: max(0, memory.worker),
    }
    if getattr(value, "__module__", "").startswith("numba") and getattr(value, "__name__", "") in known_to_numba:
        return known_to_numba[value.__name__]
    plain = getattr(value, "py_func", value)
    if not isinstance(plain, FunctionType) or plain.__module__.startswith(("numpy", "numba", "math")):
        return value
    return _rewired(plain, memory, known, id(value))


def _rewired(plain: FunctionType, memory: Memory, known: dict[int, Any], key: int) -> FunctionType:
    """The same code, with stand-ins for all that it names."""
    twin = known[key] = known[id(plain)] = blank(plain)
    rewire(twin, plain, lambda value: _stand_in(value, memory, known))
    return twin


class _Module:
    """numpy or numba, as the traced function sees it."""

    def __init__(self, module: ModuleType, memory: Memory) -> None:
        self._module, self._memory = module, memory

    def __getattr__(self, name: str) -> Any:
        return _stand_in(getattr(self._module, name), self._memory, {})


def _maker(make: Callable[..., Any], memory: Memory) -> Callable[..., TracedArray]:
    """A traced array instead of NumPy's. Filling it is not counted: it may be done anywhere, and is done once."""

    def made(*args: Any, **kwargs: Any) -> TracedArray:
        own = [a.values if isinstance(a, TracedArray) else a for a in args]
        values = make(*own, **kwargs)
        if make.__name__.startswith("empty") and values.dtype.kind == "f":  # what lies there is a matter of luck
            memory.empty = True
            values.fill(np.nan)
        return memory.place(values)

    return made


def _copier(make: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a traced array is one, too, and is read and written as a whole; ``asarray`` makes none."""

    def made(array: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(array, TracedArray) or args or kwargs:
            return make(array, *args, **kwargs)
        return array if make.__name__ == "asarray" else array.copy()

    return made
