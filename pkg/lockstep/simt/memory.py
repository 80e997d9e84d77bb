"""The memories of a GPU, and the arrays through which a kernel accesses them.

global   one for the whole grid: the arrays that were passed in. They are changed in place.
shared   one for each block: gone when the block has ended, and uninitialised when it begins.
local    one for each thread: registers, as far as they last.
constant arrays from outside of the kernel, compiled into it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lockstep.errors import UsageError
from lockstep.simt.errors import KernelError
from lockstep.simt.lane_values import Value, select
from lockstep.simt.masks import LANES, Mask

Space = Literal["global", "shared", "local", "constant"]
ALIGNMENT = 256  # bytes: what cudaMalloc gives
RUBBISH = 0x5EAD


class Memory:
    """One allocation: ``flat`` are its items, ``base`` is the address of the first one in bytes.

    ``written`` is true for items that have a value; None where all have, as in what the host passed in."""

    def __init__(
        self,
        name: str,
        space: Space,
        flat: NDArray[Any],
        base: int,
        written: NDArray[np.bool_] | None = None,
        shape: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.space = space
        self.shape = tuple(shape) or flat.shape
        self.flat = flat
        self.base = base
        self.itemsize = flat.itemsize
        self.watched = space in ("global", "shared")  # where threads meet
        self.written = written

    @classmethod
    def unwritten(cls, name: str, space: Space, shape: Sequence[int], dtype: np.dtype[Any], copies: int = 1) -> Memory:
        """Shared or local memory as a kernel finds it, uninitialised. ``copies``: of each item, one for each lane."""
        size = math.prod(shape) * copies
        return cls(name, space, np.full(size, rubbish(dtype)), 0, np.zeros(size, bool), shape)

    def item(self, number: int) -> str:
        """The name of an item: "tile[3, 4]"."""
        if self.space == "local":
            number //= LANES
        where = np.unravel_index(number, self.shape)
        return f"{self.name}[{', '.join(str(int(i)) for i in where)}]"


def rubbish(dtype: np.dtype[Any]) -> Any:
    """The contents of uninitialised memory: NaN, or a strange number. Real memory holds something else."""
    return dtype.type(math.nan if dtype.kind in "fc" else RUBBISH & 127)


class Array:
    """What a kernel indexes: a view of a memory.

    ``offset``: its first item, for all lanes or for each; None for the memory's first. ``strides`` in items.
    ``limits`` and ``steps`` are shape and strides as NumPy computes with them fastest. ``latest``: of each axis, the
    last index that was checked, for which lanes, and the items that it led to.
    """

    def __init__(self, memory: Memory, offset: Value | None, shape: Sequence[int], strides: Sequence[int]) -> None:
        self.memory = memory
        self.offset = offset
        self.shape = tuple(shape)
        self.strides = tuple(strides)
        self.limits = [np.array(size, np.uint64) for size in shape]
        self.steps = [np.array(stride, np.int64) for stride in strides]
        self.latest: list[tuple[Value, object, Value]] = [(None, None, None)] * len(self.shape)

    def part(self, offset: Value, axes: int) -> Array:
        """The view that is left when the first axes have their index."""
        return Array(self.memory, offset, self.shape[axes:], self.strides[axes:])

    def sliced(self, start: int | None, stop: int | None) -> Array:
        """``array[start:stop]`` along the first axis: a view, as in NumPy."""
        first, last, _ = slice(start, stop).indices(self.shape[0])
        offset = (0 if self.offset is None else self.offset) + np.int64(first * self.strides[0])
        return Array(self.memory, offset, (max(0, last - first), *self.shape[1:]), self.strides)

    def merged(self, mask: Mask, other: object) -> Array:
        """This view in the mask's lanes, and ``other`` elsewhere: lanes may look at different rows of one array."""
        if not isinstance(other, Array) or (other.memory, other.shape, other.strides) != self._kind():
            raise KernelError(f"a variable is {self.memory.name} in some threads, and something else in others.")
        offsets = (np.int64(0) if one is None else one for one in (self.offset, other.offset))
        return Array(self.memory, select(mask, *offsets), self.shape, self.strides)

    def _kind(self) -> tuple[Memory, tuple[int, ...], tuple[int, ...]]:
        return self.memory, self.shape, self.strides

    @property
    def size(self) -> int:
        return math.prod(self.shape)


def whole(memory: Memory, shape: Sequence[int], interleaved: bool = False) -> Array:
    """An array of all of a memory, in C order. ``interleaved``: each lane has its own, item by item next to its
    neighbours'."""
    step = LANES if interleaved else 1
    strides = tuple(step * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    return Array(memory, np.arange(LANES) if interleaved else None, shape, strides)


def constant_array(name: str, array: NDArray[Any]) -> Array:
    return whole(Memory(name, "constant", array.reshape(-1).copy(), 0, None, array.shape), array.shape)


class GlobalMemory:
    """The placement of the host's arrays in global memory. Views of one array share its memory, as slices on a device
    do."""

    def __init__(self) -> None:
        self._of: dict[tuple[int, str], Memory] = {}
        self._owners: list[NDArray[Any]] = []  # kept alive, so that an id stays theirs
        self._next = ALIGNMENT

    def array(self, passed: NDArray[Any], name: str) -> Array:
        """The array for a kernel's argument. Raises UsageError for what could not be passed to a GPU."""
        if passed.dtype.kind not in "biufc" or passed.dtype.byteorder == ">":
            raise UsageError(f"{name} has items of type {passed.dtype}.", "Pass an array of numbers.")
        if not passed.flags.writeable:
            passed = passed.copy()
        owner = passed
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if not owner.flags.forc or owner.nbytes % passed.itemsize:
            raise UsageError(f"{name} is a view of memory with gaps.", "Pass a copy: numpy.copy(…).")
        memory = self._memory(owner, passed, name)
        apart = passed.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        strides = [stride // passed.itemsize for stride in passed.strides]
        return Array(memory, np.int64(apart // passed.itemsize) if apart else None, passed.shape, strides)

    def _memory(self, owner: NDArray[Any], passed: NDArray[Any], name: str) -> Memory:
        key = id(owner), passed.dtype.char
        if key not in self._of:
            self._owners.append(owner)
            flat = owner.reshape(-1, order="A").view(passed.dtype)
            shape = owner.shape if owner.flags.c_contiguous and owner.dtype == passed.dtype else ()
            self._of[key] = Memory(name, "global", flat, self._next, None, shape)
            self._next += -(-max(1, owner.nbytes) // ALIGNMENT) * ALIGNMENT
        return self._of[key]
