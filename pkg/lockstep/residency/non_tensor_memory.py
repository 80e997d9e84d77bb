"""Memory outside tensors: NumPy arrays, numbers in lists, bytes, files, shared memory.

Tensors are accounted for by the operations that create them (``live_storages``). For all else there is no such event.
So whenever the rank communicates, everything that its program can reach is searched: local variables of the functions
on the stack, their globals, and new names in modules. Each object counts once::

    weighed(call) ─▶ Besides ◀── look() ── the rank posts an operation
                        │
                        └─ local variables, globals ──▶ lists, dicts, objects ──▶ arrays, numbers, bytes, tensors

Tensors that are not accounted for count, too. What exists only between two communications is not seen, nor what a
program hides where none of its variables leads.
"""

from __future__ import annotations

import array
import io
import mmap
import os
import stat
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from types import CodeType, FrameType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

import numpy as np
import torch

from lockstep.places import is_library
from lockstep.residency.opened_files import sizes

ARRAYS, NUMBERS, BYTES, FILES, MAPPED, UNSEEN = BESIDES = (
    "in NumPy arrays", "in lists of numbers", "in bytes or text", "in files", "in shared or mapped memory",
    "in tensors that were made out of sight",
)  # fmt: skip
SMALL = 4096  # bytes that are not counted: sizes, names and the like
MOST = 200_000  # objects that are visited
OFTEN, SELDOM = 12, 5  # the first 12 times it searches each time, then every fifth time: a search takes about 1 ms
PLACE, LEAST = 8, 16  # bytes of a list item, and of the smallest object
LONG = 32  # characters of a string, or bytes of a number, from which it is counted by itself
PLAIN = {int, float, complex}
EMPTY = {bool, type(None), CodeType, torch.dtype, torch.device}
PYTHONS = {"__builtins__", "__spec__", "__loader__"}
CLOSED = ("lockstep.virtual.", "lockstep.record.", "lockstep.comm.", "lockstep.launch.", "lockstep.checks.", "torch.")


class Besides:
    """``look()``: count what is reachable now from variables of the functions called from the frame ``below``.

    given: what is not to be counted, as it was there before.
    knows: whether a tensor is accounted for already.
    now: the live bytes of tensors.
    paths: of files that were opened to write."""

    def __init__(
        self,
        below: FrameType,
        given: Any,
        knows: Callable[[torch.Tensor], bool],
        now: Callable[[], int],
        paths: list[str],
    ) -> None:
        self._below, self._knows, self._now, self._paths = below, knows, now, paths
        self._names, self._asked = _names(), 0
        self._given = _Walk(knows).count([given]).total()
        self.most, self.at_most = 0, dict.fromkeys(BESIDES, 0)  # the former includes the tensors at that moment

    def look(self) -> None:
        self._asked += 1
        if self._asked > OFTEN and self._asked % SELDOM:
            return
        found = _Walk(self._knows, sizes(self._paths)).count(self._roots())
        extra = found.total() - self._given - SMALL
        if extra > 0 and self._now() + extra > self.most:
            self.most = self._now() + extra
            self.at_most = dict.fromkeys(BESIDES, 0) | found

    def _roots(self) -> Iterator[Any]:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame is not self._below:
            if not is_library(frame.f_code.co_filename):
                yield from _locals(frame)
                yield from _named(frame.f_globals)
            frame = frame.f_back
        yield from self._names.new()


class _Walk:
    """A traversal of the object graph that visits each object once. ``files``: bytes by device and inode."""

    def __init__(self, knows: Callable[[torch.Tensor], bool], files: dict[tuple[int, int], int] | None = None) -> None:
        self._knows, self._files = knows, files or {}
        self._found: Counter[str] = Counter()
        self._seen: dict[int, Any] = {}  # keeps them alive, so that no id is reused
        self._storages: set[int] = set()

    def count(self, roots: Iterable[Any]) -> Counter[str]:
        waiting = list(roots)
        while waiting and len(self._seen) < MOST:
            value = waiting.pop()
            if id(value) not in self._seen:
                self._seen[id(value)] = value
                waiting.extend(self._inside(value))
        if waiting:  # too many to visit: estimated
            self._found[NUMBERS] += MOST * LEAST
        self._found[FILES] = max(
            0, sum(self._files.values()) - self._found[MAPPED]
        )  # a file that is mapped counts once
        return self._found

    def _inside(self, value: Any) -> Iterable[Any]:
        """The objects that ``value`` refers to; its own bytes are counted."""
        kind = type(value)
        if kind in EMPTY:
            return ()
        if kind in PLAIN or isinstance(value, np.generic):
            size = sys.getsizeof(value)
            self._found[NUMBERS] += size if size > LONG else 0
            return ()
        if isinstance(value, ModuleType):
            return _named(vars(value)) if kind is ModuleType and value.__spec__ is None else ()
        if isinstance(value, (str, bytes, bytearray, array.array)):
            self._found[BYTES] += sys.getsizeof(value) if len(value) > LONG else 0
            return ()
        if isinstance(value, (list, tuple, set, frozenset, deque)):
            return self._items(value)
        if isinstance(value, dict):
            return [*self._items(list(value)), *self._items(list(value.values()))]
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, torch.Tensor):
            self._tensor(value)
            return (*vars(value).values(), value.grad if value.is_leaf else value.grad_fn)
        if isinstance(value, mmap.mmap):
            self._found[MAPPED] += 0 if value.closed else len(value)
            return ()
        if isinstance(value, memoryview):
            return (value.obj,)
        if isinstance(value, io.IOBase):
            self._file(value)
            return ()
        return _held(value)

    def _items(self, values: Any) -> list[Any]:
        """The items that are no numbers; numbers are counted."""
        rest = [v for v in values if type(v) not in PLAIN and not isinstance(v, np.generic)]
        if len(rest) < len(values):
            numbers = values if not rest else [v for v in values if type(v) in PLAIN or isinstance(v, np.generic)]
            self._found[NUMBERS] += PLACE * len(numbers) + sum(map(sys.getsizeof, numbers))
        return rest

    def _array(self, value: np.ndarray[Any, Any]) -> Iterable[Any]:
        if value.base is not None:
            return (value.base,)
        self._found[ARRAYS] += value.nbytes
        return value.ravel().tolist() if value.dtype == object else ()

    def _file(self, file: io.IOBase) -> None:
        if isinstance(file, io.BytesIO):
            self._found[BYTES] += 0 if file.closed else file.getbuffer().nbytes
            return
        try:
            status = os.fstat(file.fileno())
        except (OSError, ValueError):
            return
        if stat.S_ISREG(status.st_mode) and file.writable():
            self._files[status.st_dev, status.st_ino] = status.st_size

    def _tensor(self, tensor: torch.Tensor) -> None:
        if self._knows(tensor):
            return
        storage = tensor.untyped_storage()
        if storage._cdata not in self._storages:
            self._storages.add(storage._cdata)
            self._found[UNSEEN] += storage.nbytes()


def _named(namespace: dict[str, Any]) -> list[Any]:
    """The values of a namespace, except those that Python puts there."""
    return [value for name, value in list(namespace.items()) if name not in PYTHONS]


def _held(value: Any) -> Iterable[Any]:
    """The objects that a learner's function, object or class refers to."""
    if isinstance(value, FunctionType):
        if is_library(value.__code__.co_filename):
            return ()
        cells = [cell.cell_contents for cell in value.__closure__ or () if _is_full(cell)]
        return (*cells, *(value.__defaults__ or ()), value.__kwdefaults__, value.__dict__)
    if isinstance(value, MethodType):
        return (value.__self__, value.__func__)
    if isinstance(value, partial):
        return (value.func, value.args, value.keywords)
    if isinstance(value, GeneratorType):
        return _locals(value.gi_frame) if value.gi_frame else ()
    if isinstance(value, type):
        return () if _of_library(value.__module__) else [v for name, v in vars(value).items() if name[:2] != "__"]
    own = getattr(value, "__dict__", None)
    if f"{type(value).__module__}.".startswith(CLOSED) and not isinstance(value, OPEN):
        return [v for v in (own or {}).values() if isinstance(v, (np.ndarray, bytes, bytearray))]
    slots = [getattr(value, name, None) for kind in type(value).__mro__ for name in kind.__dict__.get("__slots__", ())]
    return (own, *slots)


OPEN = (torch.nn.Module, torch.optim.Optimizer)


@cache
def _of_library(module: str) -> bool:
    file = getattr(sys.modules.get(module), "__file__", None)
    return is_library(file) if file else module not in ("__main__", "learner")


def _is_full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _locals(frame: FrameType) -> list[Any]:
    """The values of a frame's variables. Python's copy of them (``f_locals``) lives as long as the frame, and would
    keep objects alive that the program has released: so it is cleared."""
    copied = frame.f_locals
    values = list(copied.values())
    if frame.f_code.co_flags & 1 and type(copied) is dict:  # a function's: CO_OPTIMIZED
        copied.clear()
    return values


class _Names:
    """The names in all modules when this process first searched them."""

    def __init__(self) -> None:
        modules = [vars(m) for m in list(sys.modules.values()) if isinstance(m, ModuleType)]
        self._known = [(own, len(own), frozenset(own)) for own in modules]
        self._number = len(sys.modules)

    def new(self) -> Iterator[Any]:
        """Values of new names in modules that existed before; and entries of sys.modules that are no modules."""
        for own, number, known in self._known:
            if len(own) != number:
                yield from [value for name, value in list(own.items()) if name not in known]
        if len(sys.modules) != self._number:
            yield from [m for m in list(sys.modules.values()) if not isinstance(m, ModuleType)]


@cache
def _names() -> _Names:
    return _Names()
