"""Arrays that write down every access: which address, read or written, by which worker.

Each ``a[i, j]`` becomes an entry of a list. ``tracing.py`` runs a kernel on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from lockstep.cpu.cache import LINE
from lockstep.errors import UsageError

SERIAL = -1  # the worker of what is not in a prange
_PRODUCTS = ("dot", "matmul", "inner", "vdot", "tensordot", "einsum")


class Endless(Exception):
    """A traced run has made more accesses than any run of its size needs."""


# (address in bytes, whether it is a write, worker, region: the how-manieth prange it is in, 0 before the first).
# A plain tuple: there are hundreds of thousands of them.
Access = tuple[int, bool, int, int]


@dataclass
class Memory:
    """The address space of a traced run, and what happened in it. Arrays begin at the beginning of a line."""

    workers: int = 1
    accesses: list[Access] = field(default_factory=list)
    arrays: dict[str, tuple[int, int]] = field(default_factory=dict)  # name → (first address, last address + 1)
    turns: list[int] = field(default_factory=list)  # of each prange that is not inside another
    worker: int = SERIAL
    region: int = 0
    temporary: int = 0  # elements of the largest array that an expression or a call made
    empty: bool = False  # whether np.empty made any: it holds nan, where it holds floats
    most: int = 2**20  # accesses, before a run counts as endless
    _end: int = LINE
    _shapes: dict[str, tuple[tuple[int, ...], int]] = field(default_factory=dict)

    def place(self, values: np.ndarray[Any, Any], name: str = "") -> TracedArray:
        """A copy of ``values`` in this memory, which traces what is done to it."""
        values = np.array(values, order="C")
        if not name:
            self.temporary = max(self.temporary, values.size)
        begin, self._end = self._end, self._end + -(-max(values.nbytes, 1) // LINE) * LINE
        name = name or f"local {len(self.arrays)}"
        self.arrays[name], self._shapes[name] = (begin, begin + values.nbytes), (values.shape, values.itemsize)
        return TracedArray(values, self, begin - values.__array_interface__["data"][0])

    def name(self, address: int) -> str:
        """The array that an address belongs to."""
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
        """numba's ``prange``: the turns in order, each with its worker; every worker has an equal piece, one after the
        other. A prange inside another one is a plain loop, as numba has it."""
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
    """Stands in for a NumPy array. Slices are views of the same memory; arithmetic on it reads all its elements."""

    def __init__(self, values: np.ndarray[Any, Any], memory: Memory, offset: int) -> None:
        self.values, self.memory = values, memory
        self._offset = offset  # from where NumPy has it to where the traced memory has it
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
            return  # what ``a[i] += b`` does in the end: it has been written already
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
        """Every element once, in order."""
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
        return out[0] if out else result

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function.__name__ in _PRODUCTS:
            _refuse_product()
        return function(*(np.asarray(a) if isinstance(a, TracedArray) else a for a in args), **kwargs)

    def __getattr__(self, name: str) -> Any:
        """sum, mean, max ...: NumPy's, after all elements were read."""
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
