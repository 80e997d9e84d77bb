"""SIMT execution: warps of 32 threads (lanes) with one program counter, and blocks of warps with barriers."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lockstep.simt.lane_values import Value
from lockstep.simt.masks import LANES, NONE, Lanes, Mask
from lockstep.simt.memory import Array, Memory, rubbish, whole
from lockstep.simt.profile import LineCounts, Recorder
from lockstep.simt.race_detection.findings import Coordinates, Findings, Thread, short
from lockstep.simt.race_detection.happens_before import START, Clock, Stamp
from lockstep.simt.race_detection.hazards import BlockHazards, GridHazards

Vote = Literal["", "count", "and", "or"]


class Arrival(NamedTuple):
    """A warp has come to a barrier, with the votes of its threads."""

    line: LineCounts
    mask: Mask
    vote: Vote
    holds: Lanes  # of the active lanes: for syncthreads_count, _and, _or


class Spin(NamedTuple):
    """A warp is in a loop that only another thread can end: its last iteration changed nothing.

    ``mask``: the lanes in the loop; ``left``: those that wait after it; ``anew``: the iteration before this one did
    change something."""

    line: LineCounts
    mask: Mask
    left: Mask
    anew: bool


Stop = Arrival | Spin
Course = Generator[Stop, Value, Mask]  # a warp's way through its kernel, from stop to stop


@dataclass(eq=False)
class Loop:
    """The lanes that have left this loop by break, or this iteration by continue."""

    broken: Mask = NONE
    continued: Mask = NONE


@dataclass(eq=False)
class Frame:
    """The local variables of a kernel or a device function, for one warp that is in it."""

    alive: Mask  # lanes that have not returned
    values: dict[str, Value] = field(default_factory=dict)
    partly: dict[str, Lanes] = field(default_factory=dict)  # variables that only some lanes have
    loops: list[Loop] = field(default_factory=list)
    returned: Value = None


class Block:
    """One block of the grid: the state that its threads share."""

    def __init__(
        self, index: Coordinates, shape: Shape, findings: Findings, grid: GridHazards, shared_bytes: int = 0
    ) -> None:
        self.index = index
        self.shape = shape
        self.warps = range(shape.warps)
        x, y, z = index
        self.number = x + shape.grid[0] * (y + shape.grid[1] * z)
        self.shared: dict[object, Array] = {}
        self.hazards = BlockHazards(self, grid, findings)
        self._dynamic: dict[np.dtype[Any], Array] = {}
        self._bytes = np.zeros(shared_bytes, np.uint8)

    def dynamic(self, name: str, dtype: np.dtype[Any]) -> Array:
        """All of the launch's ``shared_bytes``: every array of shape 0 is the same memory."""
        if dtype not in self._dynamic:
            items = self._bytes[: len(self._bytes) // dtype.itemsize * dtype.itemsize].view(dtype)
            items[:] = rubbish(dtype)
            memory = Memory(name, "shared", items, 0, np.zeros(len(items), bool))
            self._dynamic[dtype] = whole(memory, items.shape)
        return self._dynamic[dtype]

    def thread(self, number: int) -> Thread:
        x, y, _ = self.shape.block
        return Thread(self.index, (number % x, number // x % y, number // (x * y)))

    def __str__(self) -> str:
        return f"block {short(self.index)}"


class Shape:
    """The sizes of grid and block, and the coordinates of each warp's threads in the block."""

    def __init__(self, grid: Coordinates, block: Coordinates) -> None:
        self.grid = grid
        self.block = block
        self.threads = block[0] * block[1] * block[2]
        self.warps = -(-self.threads // LANES)
        self.dims = {"gridDim": _scalars(grid), "blockDim": _scalars(block)}
        self._of_warp = [self._coordinates(warp) for warp in range(self.warps)]

    def _coordinates(self, warp: int) -> tuple[NDArray[np.int64], tuple[Value, Value, Value]]:
        x, y, _ = self.block
        thread = warp * LANES + np.arange(LANES)
        return thread, (thread % x, thread // x % y, thread // (x * y))

    def of_warp(self, warp: int) -> tuple[NDArray[np.int64], tuple[Value, Value, Value]]:
        """The threads' numbers in the block, and their x, y, z: arrays of 32. Lanes beyond the block are never
        active."""
        return self._of_warp[warp]


def _scalars(sizes: Sequence[int]) -> tuple[Value, Value, Value]:
    x, y, z = (np.int64(size) for size in sizes)
    return x, y, z


class Warp:
    """A warp of 32 threads. ``frame`` changes when it enters a device function; ``epoch`` counts its syncwarps.

    ``suspects``: the number of loops that may be waiting; only while there are any, stores check whether they change
    anything."""

    def __init__(self, number: int, block: Block, findings: Findings, recorder: Recorder | None) -> None:
        shape = block.shape
        self.number = number
        self.block = block
        self.findings = findings
        self.recorder = recorder
        self.thread_ids, self.thread_idx = shape.of_warp(number)
        self.block_idx = _scalars(block.index)
        self.block_dim, self.grid_dim = shape.dims["blockDim"], shape.dims["gridDim"]
        self.started = Mask.of(self.thread_ids < shape.threads)
        self.frame = Frame(self.started)
        self.epoch = 0
        self.clock: Clock | None = None  # of fences and atomic operations; most kernels need none
        self.stamp: Stamp = START
        self.suspects = 0
        self.changes = 0

    def issue(self, line: LineCounts, mask: Mask) -> None:
        """Issue one instruction for the mask's lanes."""
        line.instructions += 1
        line.lanes += mask.count
        if self.recorder is not None:
            self.recorder.step(line, mask)

    def threads(self, lanes: Lanes) -> list[Thread]:
        return [self.block.thread(int(number)) for number in self.thread_ids[lanes]]


def arrival_values(arrivals: Sequence[Arrival]) -> Any:
    """The result of a barrier: how many threads voted yes, whether all did, whether any did."""
    yes = sum(int(np.count_nonzero(arrival.holds & arrival.mask.lanes)) for arrival in arrivals)
    everybody = sum(arrival.mask.count for arrival in arrivals)
    return {"": None, "count": np.int64(yes), "and": np.bool_(yes == everybody), "or": np.bool_(yes > 0)}[
        arrivals[0].vote
    ]
