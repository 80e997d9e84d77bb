"""What the threads of a block touch between two barriers: are there races, and is anything read that nobody wrote?

A barrier orders the threads of a block, ``syncwarp`` the lanes of a warp.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lockstep.simt.counts import LineCounts
from lockstep.simt.findings import Findings
from lockstep.simt.grid_hazards import GridHazards, Touched
from lockstep.simt.masks import LANES, Mask
from lockstep.simt.memory import Memory
from lockstep.simt.races import Ints, Race, Records, by_lines, contested, floats, numbered, races
from lockstep.simt.values import active

if TYPE_CHECKING:
    from lockstep.simt.warp import Block, Warp


class Access(NamedTuple):
    """One request of a warp; ``epoch`` counts the warp's syncwarps. One item stands for all lanes, if all read it."""

    items: Ints
    warp: Warp
    mask: Mask
    epoch: int
    line: LineCounts
    write: bool
    atomic: bool
    values: Any


class BlockHazards:
    """One block's accesses since its last barrier."""

    def __init__(self, block: Block, grid: GridHazards, findings: Findings) -> None:
        self.block = block
        self.grid = grid
        self.findings = findings
        self._touched: dict[Memory, list[Access]] = {}
        self._empty: list[tuple[Memory, Ints, Warp, Ints, LineCounts]] = []
        self._handed_on: dict[Memory, int] = {}  # how many of these accesses the grid knows
        self._published: list[Touched] = []
        self._after_atomic = False

    def note(self, memory: Memory, access: Access) -> None:
        if memory in self._touched:
            self._touched[memory].append(access)
        else:
            self._touched[memory] = [access]

    def atomic(self, memory: Memory, access: Access) -> None:
        """What a block does after an atomic operation of global memory may be ordered by it."""
        self.note(memory, access)
        if memory.space == "global" and not self._after_atomic:
            self._hand_on()
            self._after_atomic = True

    def fence(self) -> None:
        """What the block has written so far can be seen by everybody before anything that it writes from now on."""
        self._hand_on()
        for touched in self._published:
            touched.fenced = True

    def _hand_on(self) -> None:
        for memory, accesses in self._touched.items():
            new = accesses[self._handed_on.get(memory, 0) :]
            if memory.space == "global" and new:
                self._published += self.grid.touched(memory, self.block, new, self._after_atomic)
                self._handed_on[memory] = len(accesses)

    def read_empty(self, memory: Memory, items: Ints, warp: Warp, lanes: Ints, line: LineCounts) -> None:
        """Nothing has been written there. Told at the barrier: if another thread writes it until then, it is a race."""
        self._empty.append((memory, items, warp, lanes, line))

    def barrier(self) -> None:
        """All threads of the block have come here, or have ended: judge, and begin anew."""
        raced: dict[Memory, set[int]] = {}
        for memory, accesses in self._touched.items():
            if any(access.write for access in accesses):
                raced[memory] = self._judge(memory, accesses)
        for memory, items, warp, lanes, line in self._empty:
            kept = [n for n, item in enumerate(items.tolist()) if item not in raced.get(memory, ())]
            if kept:
                self._tell_empty(memory, items[kept], warp, lanes[kept], line)
        self._hand_on()
        self._touched, self._empty, self._handed_on = {}, [], {}

    def _judge(self, memory: Memory, accesses: Sequence[Access]) -> set[int]:
        """Races of different warps, then of lanes of one warp. Returns the items that are raced for."""
        lines, records, warps, epochs = _records(memory, accesses)
        if not len(records.items):
            return set()
        found = races(records, records.items, warps)
        items = {int(records.items[race.writer]) for race in found}
        alike = records.items * len(self.block.warps) + warps  # one item and one warp
        within = races(records, alike * (int(epochs.max(initial=0)) + 1) + epochs, records.actors)
        found += [race for race in within if int(records.items[race.writer]) not in items]
        for race, times in by_lines(found, records):
            self._tell(memory, records, lines, race, times)
        return {int(records.items[race.writer]) for race in found}

    def _tell(self, memory: Memory, records: Records, lines: Sequence[LineCounts], race: Race, times: int) -> None:
        item = memory.item(int(records.items[race.writer]))
        writer, other = (self.block.thread(int(records.actors[row])) for row in (race.writer, race.other))
        wrote, touched = (lines[records.lines[row]] for row in (race.writer, race.other))
        deed = "writes" if records.write[race.other] else "reads"
        same_warp = records.actors[race.writer] // LANES == records.actors[race.other] // LANES
        missing = "syncthreads or syncwarp" if same_warp else "syncthreads"
        told = f"{writer} writes {item}, and {other.short} {deed} it in {touched.place}"
        if not records.write[race.other] and _came_by(records, race):
            told = f"{writer} overwrites {item} in the next turn of the loop, and {other.short} may still read it in "
            told += touched.place
        message = f"{told}, with no {missing} in between."
        self.findings.add("race", wrote, message, (writer, other), memory.name, touched, times)

    def _tell_empty(self, memory: Memory, items: Ints, warp: Warp, lanes: Ints, line: LineCounts) -> None:
        threads = [self.block.thread(int(warp.thread_ids[lane])) for lane in lanes]
        message = f"{threads[0]} reads {memory.item(int(items[0]))}, where nothing was written yet."
        self.findings.add("uninitialised_read", line, message, threads, memory.name, times=len(threads))


def _came_by(records: Records, race: Race) -> bool:
    """Whether the writer's warp had itself passed the line of the other access before it wrote: it is a turn ahead."""
    before = slice(0, race.writer)
    same_line = records.lines[before] == records.lines[race.other]
    same_warp = records.actors[before] // LANES == records.actors[race.writer] // LANES
    return bool((same_line & same_warp).any())


def _records(memory: Memory, accesses: Sequence[Access]) -> tuple[list[LineCounts], Records, Ints, Ints]:
    """Lane by lane, what touches a contested item: lines by number, records, warps, epochs."""
    lengths = [access.mask.count for access in accesses]
    items = np.concatenate([_of_each_lane(access) for access in accesses])
    threads = np.concatenate([active(access.mask, access.warp.thread_ids) for access in accesses])
    write = np.repeat([access.write for access in accesses], lengths)
    kept = contested(items, threads, write, memory.flat.size)
    lines, numbers = numbered([access.line for access in accesses])
    records = Records(
        items[kept],
        threads[kept],
        np.repeat(numbers, lengths)[kept],
        write[kept],
        np.repeat([access.atomic for access in accesses], lengths)[kept],
        _values(accesses, kept),
    )
    warps = threads[kept] // LANES
    return lines, records, warps, np.repeat([access.epoch for access in accesses], lengths)[kept]


def _values(accesses: Sequence[Access], kept: Ints) -> Any:
    if not len(kept):
        return np.zeros(0)
    return np.concatenate([floats(access.values, access.mask.count) for access in accesses])[kept]


def _of_each_lane(access: Access) -> Ints:
    return access.items if len(access.items) == access.mask.count else np.repeat(access.items, access.mask.count)
