"""The intrinsics of ``numba.cuda``: a thread's coordinates, fences, and exchanges between the lanes of a warp.

Each intrinsic is a function of the warp, its mask, the source line, and the values of its arguments.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lockstep.simt.lane_values import Value, truth
from lockstep.simt.masks import LANES, Mask
from lockstep.simt.profile import LineCounts
from lockstep.simt.warp import Warp

LANE = np.arange(LANES)
BITS = np.uint32(1) << LANE.astype(np.uint32)
DIMENSIONS = {"x": 0, "y": 1, "z": 2}

NO_GROUPS = "the warp machine has no cooperative groups."
REMEDY = "To wait for all blocks, let the kernel end and launch a second one: a launch ends when all blocks have."

OfWarp = Callable[[Warp], tuple[Value, Value, Value]]
Intrinsic = Callable[..., Value]


@functools.cache
def _dimensions() -> dict[int, OfWarp]:
    """The dimensions by the identity of numba's object: ``cuda.threadIdx`` and so on."""
    from numba import cuda

    return {
        id(cuda.threadIdx): lambda warp: warp.thread_idx,
        id(cuda.blockIdx): lambda warp: warp.block_idx,
        id(cuda.blockDim): lambda warp: warp.block_dim,
        id(cuda.gridDim): lambda warp: warp.grid_dim,
    }


def cooperative(known: object) -> bool:
    """Whether this is ``cuda.cg`` or something in it: groups of all threads of a grid."""
    name = getattr(known, "__module__", None) or getattr(known, "__name__", "")
    return isinstance(name, str) and name.endswith("numba.cuda.cg")


def constant_of(known: object) -> OfWarp | None:
    """The value of .x, .y or .z of ``known``, which is an index of a thread or a block, or a size."""
    return _dimensions().get(id(known))


def thread_constant(known: object) -> Callable[[Warp, Mask], Value] | None:
    """``cuda.laneid`` and ``cuda.warpsize``."""
    from numba import cuda

    if known is cuda.laneid:
        return lambda warp, mask: LANE
    size = np.int64(LANES)
    return (lambda warp, mask: size) if known is cuda.warpsize else None


def grid(warp: Warp, mask: Mask, line: LineCounts, ndim: Value) -> Value:
    """The thread's index in the whole grid: x, or (x, y), or (x, y, z)."""
    axes = _axes(ndim, line)
    place = tuple(warp.block_idx[a] * warp.block_dim[a] + warp.thread_idx[a] for a in range(axes))
    return place[0] if axes == 1 else place


def gridsize(warp: Warp, mask: Mask, line: LineCounts, ndim: Value) -> Value:
    axes = _axes(ndim, line)
    sizes = tuple(warp.block_dim[a] * warp.grid_dim[a] for a in range(axes))
    return sizes[0] if axes == 1 else sizes


def _axes(ndim: Value, line: LineCounts) -> int:
    if isinstance(ndim, np.ndarray) or ndim not in (1, 2, 3):
        raise line.refuse("cuda.grid and cuda.gridsize take 1, 2 or 3.")
    return int(ndim)


def syncwarp(warp: Warp, mask: Mask, line: LineCounts, *members: Value) -> Value:
    """Orders the memory accesses of this warp's lanes."""
    warp.epoch += 1
    warp.block.hazards.grid.order.syncwarp(warp)
    return None


def threadfence(warp: Warp, mask: Mask, line: LineCounts) -> Value:
    """A fence. The machine's memory is always consistent; fences only matter to race detection. It waits for no
    thread."""
    warp.block.hazards.grid.order.fence(warp, mask, wide=True)
    return None


def threadfence_block(warp: Warp, mask: Mask, line: LineCounts) -> Value:
    """A fence for the threads of the block alone."""
    warp.block.hazards.grid.order.fence(warp, mask, wide=False)
    return None


def _expected(warp: Warp, mask: Mask, line: LineCounts, members: Value) -> None:
    """Check ``members``, which promises which lanes take part. Real hardware waits for those that do not, or reads
    garbage."""
    promised = int(np.max(members)) & 0xFFFFFFFF
    here = mask.bits()
    if promised & warp.started.bits() & ~here or here & ~promised:
        message = f"the mask promises lanes 0x{promised:x}, and lanes 0x{here:x} are here."
        warp.findings.add("inactive_lane", line, message, warp.threads(mask.lanes))


def _exchange(
    warp: Warp, mask: Mask, line: LineCounts, members: Value, value: Value, source: NDArray[np.int64]
) -> Value:
    """Each lane's value from lane ``source``; a lane whose source is beyond the warp keeps its own."""
    line.shuffles += 1
    _expected(warp, mask, line, members)
    value = np.broadcast_to(value, LANES)
    source = np.where((source >= 0) & (source < LANES), source, LANE)
    asleep = mask.lanes & ~mask.lanes[source]
    if asleep.any():
        message = f"lane {int(source[asleep][0])} does not take part, and its value is asked for."
        warp.findings.add("inactive_lane", line, message, warp.threads(asleep), times=int(asleep.sum()))
    return value[source]


def shfl_sync(warp: Warp, mask: Mask, line: LineCounts, members: Value, value: Value, lane: Value) -> Value:
    return _exchange(warp, mask, line, members, value, np.broadcast_to(lane, LANES) % LANES)


def shfl_up_sync(warp: Warp, mask: Mask, line: LineCounts, members: Value, value: Value, by: Value) -> Value:
    return _exchange(warp, mask, line, members, value, LANE - by)


def shfl_down_sync(warp: Warp, mask: Mask, line: LineCounts, members: Value, value: Value, by: Value) -> Value:
    return _exchange(warp, mask, line, members, value, LANE + by)


def shfl_xor_sync(warp: Warp, mask: Mask, line: LineCounts, members: Value, value: Value, by: Value) -> Value:
    return _exchange(warp, mask, line, members, value, LANE ^ by)


def _votes(mask: Mask, predicate: Value) -> NDArray[np.bool_]:
    votes: NDArray[np.bool_] = mask.lanes & truth(predicate)
    return votes


def _word(lanes: NDArray[np.bool_]) -> np.uint32:
    return np.uint32(BITS[lanes].sum())


def ballot_sync(warp: Warp, mask: Mask, line: LineCounts, members: Value, predicate: Value) -> Value:
    _expected(warp, mask, line, members)
    return _word(_votes(mask, predicate))


def any_sync(warp: Warp, mask: Mask, line: LineCounts, members: Value, predicate: Value) -> Value:
    _expected(warp, mask, line, members)
    return np.bool_(_votes(mask, predicate).any())


def all_sync(warp: Warp, mask: Mask, line: LineCounts, members: Value, predicate: Value) -> Value:
    _expected(warp, mask, line, members)
    return np.bool_(np.count_nonzero(_votes(mask, predicate)) == mask.count)


def eq_sync(warp: Warp, mask: Mask, line: LineCounts, members: Value, predicate: Value) -> Value:
    _expected(warp, mask, line, members)
    return np.bool_(np.count_nonzero(_votes(mask, predicate)) in (0, mask.count))


def match_any_sync(warp: Warp, mask: Mask, line: LineCounts, members: Value, value: Value) -> Value:
    """For each lane, the lanes that have its value."""
    _expected(warp, mask, line, members)
    value = np.broadcast_to(value, LANES)
    alike = (value[:, None] == value[None, :]) & mask.lanes[None, :]
    return (alike * BITS[None, :]).sum(axis=1).astype(np.uint32)


def match_all_sync(warp: Warp, mask: Mask, line: LineCounts, members: Value, value: Value) -> Value:
    """(lanes that take part, True) if all have one value, else (0, False)."""
    _expected(warp, mask, line, members)
    here = np.broadcast_to(value, LANES)[mask.lanes]
    agreed = bool((here == here[0]).all())
    return (_word(mask.lanes), np.bool_(True)) if agreed else (np.uint32(0), np.bool_(False))


def activemask(warp: Warp, mask: Mask, line: LineCounts) -> Value:
    return _word(mask.lanes)


def lanemask_lt(warp: Warp, mask: Mask, line: LineCounts) -> Value:
    return BITS - np.uint32(1)


def nanosleep(warp: Warp, mask: Mask, line: LineCounts, nanoseconds: Value) -> Value:
    return None


@functools.cache
def intrinsics() -> dict[int, Intrinsic]:
    """The intrinsics by the identity of numba's object."""
    from numba import cuda

    of_warps = (grid, gridsize, syncwarp, threadfence, threadfence_block, activemask, lanemask_lt, nanosleep)
    exchanges = (shfl_sync, shfl_up_sync, shfl_down_sync, shfl_xor_sync)
    votes = (ballot_sync, any_sync, all_sync, eq_sync, match_any_sync, match_all_sync)
    named: dict[str, Any] = {f.__name__: f for f in (*of_warps, *exchanges, *votes)}
    named["threadfence_system"] = threadfence
    return {id(getattr(cuda, name)): f for name, f in named.items() if hasattr(cuda, name)}
