"""Memory accesses of one warp: loads, stores and atomic operations, what they cost, and what is wrong with them.

An atomic operation reads, computes and writes back without any other access in between: lanes at one address are
serialised.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lockstep.simt.coalescing_and_bank_conflicts import sectors, wavefronts
from lockstep.simt.errors import KernelError
from lockstep.simt.lane_values import Value, active
from lockstep.simt.masks import LANES, Mask
from lockstep.simt.memory import Array, Memory, rubbish
from lockstep.simt.profile import LineCounts
from lockstep.simt.race_detection.happens_before import Access
from lockstep.simt.warp import Warp

Items = NDArray[np.int64]  # of a memory, for each active lane: (count,)
LANE = np.arange(LANES)
count = np.count_nonzero
INT64, UINT64 = np.dtype(np.int64), np.dtype(np.uint64)
Update = Callable[..., Any]  # (what is there, operands…) → what is there next


def load(warp: Warp, mask: Mask, line: LineCounts, array: Array, index: Value) -> Value:
    """The items at ``index`` (one index or a tuple), or a view if indices are missing."""
    warp.issue(line, mask)
    offset, inside = locate(warp, mask, line, array, index)
    axes = len(index) if isinstance(index, tuple) else 1
    if axes < len(array.shape):
        return array.part(offset, axes)
    flat = array.memory.flat
    if not inside.count:
        return rubbish(flat.dtype)
    if not isinstance(offset, np.ndarray):  # all lanes read one item
        _note_read(warp, inside, line, array.memory, np.array([offset]))
        return flat[offset]
    items = active(inside, offset)
    _note_read(warp, inside, line, array.memory, items)
    if inside.count == LANES:
        return flat[items]
    values = np.zeros(LANES, flat.dtype) if inside is mask else np.full(LANES, rubbish(flat.dtype))
    values[inside.lanes] = flat[items]
    return values


def store(warp: Warp, mask: Mask, line: LineCounts, array: Array, index: Value, value: Value) -> None:
    """Store a value. Where several lanes store to one item, the last one wins, and that is a race."""
    warp.issue(line, mask)
    items, inside = places(warp, mask, line, array, index)
    if not inside.count:
        return
    memory = array.memory
    if not isinstance(value, np.ndarray | np.generic):
        remedy = "A store takes one number for each thread."
        raise line.refuse(f"what is stored into {memory.name} is no number.", remedy)
    stored = active(inside, value)
    if warp.suspects:
        _note_change(warp, memory, items, stored)
    memory.flat[items] = stored
    cost(warp, inside, line, memory, items)
    if memory.written is not None:
        memory.written[items] = True
    if memory.watched:
        warp.block.hazards.note(memory, Access(items, warp, inside, warp.epoch, warp.stamp, line, True, False, stored))


def _note_change(warp: Warp, memory: Memory, items: Items, stored: Value) -> None:
    if not np.array_equal(memory.flat[items], np.broadcast_to(stored, len(items)).astype(memory.flat.dtype)):
        warp.changes += 1


def places(warp: Warp, mask: Mask, line: LineCounts, array: Array, index: Value) -> tuple[Items, Mask]:
    """The item of each active lane, and the mask without the lanes that are out of bounds."""
    axes = len(index) if isinstance(index, tuple) else 1
    if axes != len(array.shape):
        raise _indices(array, axes, line)
    offset, inside = locate(warp, mask, line, array, index)
    if not isinstance(offset, np.ndarray):
        return np.full(inside.count, offset), inside
    return active(inside, offset), inside


def _indices(array: Array, given: int, line: LineCounts) -> KernelError:
    axes = len(array.shape)
    needs = f"{axes} indices, one for each axis" if axes > 1 else "one index"
    return line.refuse(f"{array.memory.name} needs {needs}, and has {given}.")


def locate(warp: Warp, mask: Mask, line: LineCounts, array: Array, index: Value) -> tuple[Value, Mask]:
    """Numbers of items in the memory, for all lanes or for each, and the lanes that are within bounds."""
    indices = index if isinstance(index, tuple) else (index,)
    if len(indices) > len(array.shape):
        raise _indices(array, len(indices), line)
    offset = array.offset
    for axis, one in enumerate(indices):
        latest, lanes, items = array.latest[axis]
        if latest is not one or lanes is not mask:  # in a loop, an index often stays what it was
            items, mask = _along(warp, mask, line, array, axis, one)
        offset = items if offset is None else offset + items
    return offset, mask


def _along(warp: Warp, mask: Mask, line: LineCounts, array: Array, axis: int, index: Value) -> tuple[Value, Mask]:
    """The offset of an index along its axis, in items."""
    found, inside = bounded(warp, mask, line, array, axis, index)
    if not isinstance(index, np.ndarray):
        return found * array.strides[axis], inside
    if array.strides[axis] != 1:
        found = found * array.steps[axis]
    if inside is mask:
        array.latest[axis] = index, mask, found
    return found, inside


def bounded(warp: Warp, mask: Mask, line: LineCounts, array: Array, axis: int, index: Value) -> tuple[Value, Mask]:
    """The index with negative ones counted from the end, as numba does, and the lanes for which it is in bounds."""
    if not isinstance(index, np.ndarray):
        if 0 <= index < array.shape[axis] and index.dtype.kind in "iu":
            return index, mask
        index = np.full(LANES, index)
    if index.dtype is not INT64:
        index = _whole_number(index, line, array)
    outside = index.view(UINT64) >= array.limits[axis]  # a negative one is a huge one
    if not count(outside) or not count(outside := outside & mask.lanes):
        return index, mask
    return _mended(warp, mask, line, array, axis, index, outside)


def _whole_number(index: Value, line: LineCounts, array: Array) -> Value:
    if index.dtype.kind not in "iu":
        remedy = "Use // to divide whole numbers, or int(…)."
        raise line.refuse(f"an index of {array.memory.name} is {index.dtype}.", remedy)
    return index.astype(INT64)


def _mended(
    warp: Warp, mask: Mask, line: LineCounts, array: Array, axis: int, index: Value, outside: NDArray[np.bool_]
) -> tuple[Value, Mask]:
    size = array.shape[axis]
    negative = outside & (index < 0) & (index >= -size)
    name = array.memory.name
    about = f" along axis {axis}" if len(array.shape) > 1 else ""
    if negative.any():
        threads = warp.threads(negative)
        message = (
            f"{threads[0]} uses index {_first(index, negative)} of {name}{about}. "
            f"numba counts it from the end; in CUDA C it is out of bounds."
        )
        warp.findings.add("negative_index", line, message, threads, name, times=int(negative.sum()))
    beyond = outside & ~negative
    if beyond.any():
        threads = warp.threads(beyond)
        message = (
            f"{threads[0]} uses index {_first(index, beyond)} of {name}{about}, "
            f"which has {size} item{'s' if size != 1 else ''}."
        )
        warp.findings.add("out_of_bounds", line, message, threads, name, times=int(beyond.sum()))
    return np.where(negative, index + size, index), Mask.of(mask.lanes & ~beyond)


def _first(index: Value, lanes: NDArray[np.bool_]) -> int:
    return int(index[lanes][0])


def cost(warp: Warp, mask: Mask, line: LineCounts, memory: Memory, items: Items) -> None:
    """Count what the request of the active lanes moves. One item alone means that all lanes access it."""
    if memory.space == "global":
        moved, lines = sectors(items, memory.itemsize)
        line.global_requests += 1
        line.global_bytes += mask.count * memory.itemsize
        line.sectors += moved
        line.cache_lines += lines
    elif memory.space == "shared":
        line.shared_requests += 1
        line.wavefronts += wavefronts(items, LANE[mask.lanes], memory.itemsize) if len(items) > 1 else 1
    if warp.recorder is not None:
        warp.recorder.access(memory, np.broadcast_to(items, mask.count), mask)


def _note_read(warp: Warp, mask: Mask, line: LineCounts, memory: Memory, items: Items) -> None:
    cost(warp, mask, line, memory, items)
    missing = memory.written is not None and np.count_nonzero(memory.written[items]) < len(items)
    if missing:
        assert memory.written is not None
        empty = np.broadcast_to(~memory.written[items], mask.count)
        items = np.broadcast_to(items, mask.count)
        warp.block.hazards.read_empty(memory, items[empty], warp, LANE[mask.lanes][empty], line)
    if memory.watched:
        warp.block.hazards.note(memory, Access(items, warp, mask, warp.epoch, warp.stamp, line, False, False, 0))


# ---- atomic operations


def _inc(old: Any, limit: Any) -> Any:
    return 0 if old >= limit else old + 1


def _dec(old: Any, limit: Any) -> Any:
    return limit if old == 0 or old > limit else old - 1


def _swap(old: Any, expected: Any, new: Any) -> Any:
    return new if old == expected else old


UPDATES: dict[str, Update] = {
    "add": lambda old, value: old + value,
    "sub": lambda old, value: old - value,
    "and_": lambda old, value: old & value,
    "or_": lambda old, value: old | value,
    "xor": lambda old, value: old ^ value,
    "inc": _inc,
    "dec": _dec,
    "exch": lambda old, value: value,
    "max": max,
    "min": min,
    "nanmax": np.fmax,
    "nanmin": np.fmin,
    "cas": _swap,
}


def _atomic(update: Update) -> Callable[..., Value]:
    def run(warp: Warp, mask: Mask, line: LineCounts, array: Array, index: Value, *operands: Value) -> Value:
        """What each lane found before its own turn."""
        items, inside = places(warp, mask, line, array, index)
        flat = array.memory.flat
        found = np.zeros(LANES, flat.dtype)
        if not inside.count:
            return found
        kind = flat.dtype.type
        given = [np.broadcast_to(active(inside, operand), inside.count) for operand in operands]
        for lane, item, *values in zip(np.flatnonzero(inside.lanes), items, *given, strict=True):
            found[lane] = old = flat[item]
            flat[item] = new = update(old, *(np.asarray(value).astype(kind)[()] for value in values))
            warp.changes += bool(new != old)
        _count_atomics(warp, inside, line, array, items)
        order = warp.block.hazards.grid.order
        if order.concerns(warp, array.memory):
            old = found[inside.lanes]
            wrote = old == given[0].astype(kind) if update is _swap else np.ones(inside.count, bool)
            order.atomic(warp, array.memory, inside.lanes, items, old, wrote)
        return found

    return run


def _count_atomics(warp: Warp, mask: Mask, line: LineCounts, array: Array, items: Any) -> None:
    memory = array.memory
    cost(warp, mask, line, memory, items)
    line.atomics += mask.count
    line.atomic_passes += int(np.unique(items, return_counts=True)[1].max())
    if memory.written is not None:
        empty = ~memory.written[items]
        if empty.any():
            warp.block.hazards.read_empty(memory, items[empty], warp, np.flatnonzero(mask.lanes)[empty], line)
        memory.written[items] = True
    if memory.watched:
        warp.block.hazards.note(memory, Access(items, warp, mask, warp.epoch, warp.stamp, line, True, True, 0))


def _compare_and_swap(warp: Warp, mask: Mask, line: LineCounts, array: Array, expected: Value, new: Value) -> Value:
    """The older form of ``cas``: always at item 0."""
    return _atomic(_swap)(warp, mask, line, array, np.int64(0), expected, new)


@functools.cache
def atomics() -> dict[int, Callable[..., Value]]:
    """The atomic operations by the identity of numba's object: ``cuda.atomic.add`` and so on."""
    from numba import cuda

    known = {name: _atomic(update) for name, update in UPDATES.items()}
    known["compare_and_swap"] = _compare_and_swap
    return {id(getattr(cuda.atomic, name)): f for name, f in known.items() if hasattr(cuda.atomic, name)}
