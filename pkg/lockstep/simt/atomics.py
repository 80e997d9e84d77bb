"""Atomic operations: read, compute and write back, with nobody in between. Lanes at one address wait in line."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from lockstep.simt.access import cost, places
from lockstep.simt.lane_values import Value, active
from lockstep.simt.line_counts import LineCounts
from lockstep.simt.masks import LANES, Mask
from lockstep.simt.memory import Array
from lockstep.simt.race_detection.happens_before import Access
from lockstep.simt.warp import Warp

Update = Callable[..., Any]  # (what is there, operands…) → what is there next


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
        _count(warp, inside, line, array, items)
        order = warp.block.hazards.grid.order
        if order.concerns(warp, array.memory):
            old = found[inside.lanes]
            wrote = old == given[0].astype(kind) if update is _swap else np.ones(inside.count, bool)
            order.atomic(warp, array.memory, inside.lanes, items, old, wrote)
        return found

    return run


def _count(warp: Warp, mask: Mask, line: LineCounts, array: Array, items: Any) -> None:
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
    """The older form: always at item 0."""
    return _atomic(_swap)(warp, mask, line, array, np.int64(0), expected, new)


@functools.cache
def atomics() -> dict[int, Callable[..., Value]]:
    """By the identity of numba's object: ``cuda.atomic.add`` and so on."""
    from numba import cuda

    known = {name: _atomic(update) for name, update in UPDATES.items()}
    known["compare_and_swap"] = _compare_and_swap
    return {id(getattr(cuda.atomic, name)): f for name, f in known.items() if hasattr(cuda.atomic, name)}
