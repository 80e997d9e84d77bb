"""Run a compiled function as plain Python on traced arrays, which record every access to memory.

What numba compiles is plain Python, too. ``trace`` runs it as such, on small arrays whose every ``a[i, j]`` is
recorded: which address, read or written, by which worker. The names that the function uses are replaced: NumPy's
``zeros`` and its kind return traced arrays, ``prange`` assigns each turn to a worker, and other compiled functions run
in Python.

A compiler may keep in a register what the program writes to memory in every turn; so this is what the *program* demands
of the memory, not what one compiler made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from lockstep.cpu.rebound import blank, rewire
from lockstep.errors import UsageError

LINE = 64  # bytes of a cache line, on x86-64; Apple's have 128
SERIAL = -1  # the worker outside of a prange
_PRODUCTS = ("dot", "matmul", "inner", "vdot", "tensordot", "einsum")


class Endless(Exception):
    """A traced run made more accesses than any run of its size needs."""


# (address in bytes, whether it is a write, worker, region: the number of the prange, from 1; 0 before the first).
# A plain tuple: there are hundreds of thousands of them.
Access = tuple[int, bool, int, int]


@dataclass
class Memory:
    """The address space of a traced run, and all accesses to it. Arrays are aligned to cache lines."""

    workers: int = 1
    accesses: list[Access] = field(default_factory=list)
    arrays: dict[str, tuple[int, int]] = field(default_factory=dict)  # name → (first address, last address + 1)
    turns: list[int] = field(default_factory=list)  # of each outermost prange
    worker: int = SERIAL
    region: int = 0
    temporary: int = 0  # elements of the largest temporary array
    products: bool = False  # whether an array was made of products of two arrays
    empty: bool = False  # whether np.empty was called: its floats are nan
    most: int = 2**20  # accesses; with more a run counts as endless
    _end: int = LINE
    _shapes: dict[str, tuple[tuple[int, ...], int]] = field(default_factory=dict)

    def place(self, values: np.ndarray[Any, Any], name: str = "") -> TracedArray:
        """A copy of ``values`` in this memory, as a traced array."""
        values = np.array(values, order="C")
        if not name:
            self.temporary = max(self.temporary, values.size)
        begin, self._end = self._end, self._end + -(-max(values.nbytes, 1) // LINE) * LINE
        name = name or f"local {len(self.arrays)}"
        self.arrays[name], self._shapes[name] = (begin, begin + values.nbytes), (values.shape, values.itemsize)
        return TracedArray(values, self, begin - values.__array_interface__["data"][0])

    def name(self, address: int) -> str:
        """The name of the array that contains an address; empty if none does."""
        return next((n for n, (begin, end) in self.arrays.items() if begin <= address < end), "")

    def uses(self, name: str, write: bool = False) -> np.ndarray[Any, Any]:
        """How often each element of an array was read or written, as an array of its shape."""
        begin, end = self.arrays[name]
        shape, itemsize = self._shapes[name]
        found = [(a - begin) // itemsize for a, wrote, *_ in self.accesses if wrote == write and begin <= a < end]
        return np.bincount(found, minlength=(end - begin) // itemsize).reshape(shape)

    def note(self, address: int, write: bool) -> None:
        if len(self.accesses) >= self.most:
            raise Endless(f"{self.most:,} accesses")
        self.accesses.append((address, write, self.worker, self.region))

    def prange(self, *bounds: int) -> Iterator[int]:
        """numba's ``prange``: the turns in order, in equal contiguous pieces, one for each worker. A prange inside
        another one is a plain loop, as in numba."""
        turns = range(*(int(b) for b in bounds))
        if self.worker != SERIAL:
            yield from turns
            return
        self.region += 1
        self.turns.append(len(turns))
        try:
            for number, turn in enumerate(turns):
                self.worker = number * self.workers // len(turns)
                yield turn
        finally:
            self.worker = SERIAL


class TracedArray(NDArrayOperatorsMixin):
    """A substitute for a NumPy array. Slices are views of the same memory; arithmetic on it reads all its elements."""

    def __init__(self, values: np.ndarray[Any, Any], memory: Memory, offset: int) -> None:
        self.values, self.memory = values, memory
        self._offset = offset  # from NumPy's address to the traced one
        self._begin = values.__array_interface__["data"][0] + offset
        self.shape, self.strides, self.dtype = values.shape, values.strides, values.dtype
        self._axes = tuple(zip(values.shape, values.strides, strict=True))
        self.size, self.ndim, self.itemsize, self.nbytes = values.size, values.ndim, values.itemsize, values.nbytes

    def __getitem__(self, index: Any) -> Any:
        found = self.values[index]
        if isinstance(found, np.ndarray):
            return self._view(found)
        self.memory.note(self._address(index), write=False)
        return found

    def __setitem__(self, index: Any, value: Any) -> None:
        target = self.values[index]
        if not isinstance(target, np.ndarray):
            self.memory.note(self._address(index), write=True)
        elif isinstance(value, TracedArray) and value._is(self._view(target)):
            return  # the end of ``a[i] += b``, which has been written already
        else:
            value = np.asarray(value)
            self._view(target).touch(write=True)
        self.values[index] = value

    def _view(self, values: np.ndarray[Any, Any]) -> TracedArray:
        if values.base is None and values is not self.values:
            raise UsageError("A traced array takes numbers and slices as indices, not lists and masks.")
        return TracedArray(values, self.memory, self._offset)

    def _is(self, other: TracedArray) -> bool:
        return (self._begin, self.shape, self.strides) == (other._begin, other.shape, other.strides)

    def _address(self, index: Any) -> int:
        at: int = self._begin
        for i, (n, stride) in zip(index if isinstance(index, tuple) else (index,), self._axes, strict=True):
            at += int(i) % n * stride
        return at

    def touch(self, write: bool) -> None:
        """Record an access to every element, in order."""
        addresses = [self._begin]
        for n, stride in self._axes:
            addresses = [at + i * stride for at in addresses for i in range(n)]
        memory = self.memory
        memory.accesses += [(at, write, memory.worker, memory.region) for at in addresses]

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        self.touch(write=False)
        return np.array(self.values, dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **options: Any) -> Any:
        if ufunc is np.matmul:
            _refuse_product()
        result = getattr(ufunc, method)(*(np.asarray(i) for i in inputs), **options)
        for target in out:
            target[...] = result
        if not out:
            self.memory.temporary = max(self.memory.temporary, np.size(result))
            self.memory.products |= ufunc is np.multiply and all(getattr(one, "ndim", 0) for one in inputs)
        return out[0] if out else result

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function.__name__ in _PRODUCTS:
            _refuse_product()
        return function(*(np.asarray(a) if isinstance(a, TracedArray) else a for a in args), **kwargs)

    def __getattr__(self, name: str) -> Any:
        """sum, mean, max ...: NumPy's, after a read of all elements."""
        if name == "dot":
            _refuse_product()
        if name.startswith("_") or not callable(getattr(self.values, name, None)):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    @property
    def T(self) -> TracedArray:
        return self._view(self.values.T)

    def reshape(self, *shape: Any) -> TracedArray:
        return self._view(self.values.reshape(*shape))

    def copy(self) -> TracedArray:
        made = self.memory.place(np.asarray(self))
        made.touch(write=True)
        return made

    def fill(self, value: Any) -> None:
        self[...] = value


def _refuse_product() -> None:
    raise UsageError("This calls a library's product of matrices or vectors.", "Write the loops yourself.")


# ---- a function on traced arrays

_MAKERS = ("zeros", "empty", "ones", "full", "zeros_like", "empty_like", "ones_like", "full_like")
_COPIERS = ("array", "copy", "asarray", "ascontiguousarray")


def trace(function: Callable[..., Any], memory: Memory, *arguments: Any) -> Any:
    """Call ``function`` as plain Python on traced ``arguments``; all accesses are recorded in ``memory.accesses``."""
    return _stand_in(function, memory, {})(*arguments)


def _stand_in(value: Any, memory: Memory, known: dict[int, Any]) -> Any:
    """The substitute for ``value``, which the traced function uses by name."""
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
    """The same code, with substitutes for all that it uses by name."""
    twin = known[key] = known[id(plain)] = blank(plain)
    rewire(twin, plain, lambda value: _stand_in(value, memory, known))
    return twin


class _Module:
    """A substitute for the module numpy or numba."""

    def __init__(self, module: ModuleType, memory: Memory) -> None:
        self._module, self._memory = module, memory

    def __getattr__(self, name: str) -> Any:
        return _stand_in(getattr(self._module, name), self._memory, {})


def _maker(make: Callable[..., Any], memory: Memory) -> Callable[..., TracedArray]:
    """A substitute for ``np.zeros`` and its kind that returns a traced array. Filling it is not recorded, since that is
    done once, and may be done anywhere."""

    def made(*args: Any, **kwargs: Any) -> TracedArray:
        own = [a.values if isinstance(a, TracedArray) else a for a in args]
        values = make(*own, **kwargs)
        if make.__name__.startswith("empty") and values.dtype.kind == "f":  # its values are undefined
            memory.empty = True
            values.fill(np.nan)
        return memory.place(values)

    return made


def _copier(make: Callable[..., Any]) -> Callable[..., Any]:
    """A substitute for ``np.array`` and its kind: a copy of a traced array is traced, and is read and written as a
    whole; ``asarray`` makes no copy."""

    def made(array: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(array, TracedArray) or args or kwargs:
            return make(array, *args, **kwargs)
        return array if make.__name__ == "asarray" else array.copy()

    return made
