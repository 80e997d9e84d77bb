"""What the threads of a block touch between two barriers: are there races, and is anything read that nobody wrote?

A barrier orders the threads of a block, ``syncwarp`` the lanes of a warp, fences with atomic operations any threads
(``happens_before``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from lockstep.simt.lane_values import active
from lockstep.simt.line_counts import LineCounts
from lockstep.simt.masks import LANES
from lockstep.simt.memory import Memory
from lockstep.simt.race_detection.findings import Findings
from lockstep.simt.race_detection.grid_hazards import GridHazards
from lockstep.simt.race_detection.happens_before import Access, Block, Moment, Warp, moment_of
from lockstep.simt.race_detection.races import (
    Ints,
    Race,
    Records,
    by_lines,
    contested,
    floats,
    numbered,
    races,
    rows_of,
)


class BlockHazards:
    """One block's accesses since its last barrier. ``phase`` counts barriers; ``fenced``: a fence or release since."""

    def __init__(self, block: Block, grid: GridHazards, findings: Findings) -> None:
        self.block = block
        self.grid = grid
        self.findings = findings
        self.phase = 0
        self.fenced = False
        self._touched: dict[Memory, list[Access]] = {}
        self._empty: list[tuple[Memory, Ints, Warp, Ints, LineCounts]] = []

    def note(self, memory: Memory, access: Access) -> None:
        if memory in self._touched:
            self._touched[memory].append(access)
        else:
            self._touched[memory] = [access]

    def read_empty(self, memory: Memory, items: Ints, warp: Warp, lanes: Ints, line: LineCounts) -> None:
        """Nothing has been written there. Told at the barrier: if another thread writes it until then, it is a race."""
        self._empty.append((memory, items, warp, lanes, line))

    def barrier(self, warps: Sequence[Warp]) -> None:
        """All threads of the block have come here, or have ended: judge, and begin anew. ``warps`` go on."""
        raced: dict[Memory, set[int]] = {}
        for memory, accesses in self._touched.items():
            if any(access.write for access in accesses):
                raced[memory] = self._judge(memory, accesses)
        for memory, items, warp, lanes, line in self._empty:
            kept = [n for n, item in enumerate(items.tolist()) if item not in raced.get(memory, ())]
            if kept:
                self._tell_empty(memory, items[kept], warp, lanes[kept], line)
        for memory, accesses in self._touched.items():
            if memory.space == "global":
                self.grid.touched(memory, self.block, accesses, self.phase, self.fenced)
        if self.grid.order.used:
            self.grid.order.barrier(self.block, warps, self.phase)
        self._touched, self._empty = {}, []
        self.phase, self.fenced = self.phase + 1, False

    def _judge(self, memory: Memory, accesses: Sequence[Access]) -> set[int]:
        """Returns the items that are raced for."""
        lines, records, kept = _records(memory, accesses)
        if not len(kept):
            return set()
        if self.fenced:
            found = races(records, records.items, records.actors, _moments(accesses, kept, self.phase))
        else:
            epochs = np.repeat([access.epoch for access in accesses], _lengths(accesses))[kept]
            found = self._of_warps_and_lanes(records, records.actors // LANES, epochs)
        for race, times in by_lines(found, records):
            self._tell(memory, records, lines, race, times)
        return {int(records.items[race.writer]) for race in found}

    def _of_warps_and_lanes(self, records: Records, warps: Ints, epochs: Ints) -> list[Race]:
        """Races of different warps, then of lanes of one warp, which its syncwarps order."""
        found = races(records, records.items, warps)
        items = {int(records.items[race.writer]) for race in found}
        alike = records.items * len(self.block.warps) + warps  # one item and one warp
        within = races(records, alike * (int(epochs.max(initial=0)) + 1) + epochs, records.actors)
        return found + [race for race in within if int(records.items[race.writer]) not in items]

    def _tell(self, memory: Memory, records: Records, lines: Sequence[LineCounts], race: Race, times: int) -> None:
        item = memory.item(int(records.items[race.writer]))
        writer, other = (self.block.thread(int(records.actors[row])) for row in (race.writer, race.other))
        wrote, touched = (lines[records.lines[row]] for row in (race.writer, race.other))
        deed = "writes" if records.write[race.other] else "reads"
        same_warp = records.actors[race.writer] // LANES == records.actors[race.other] // LANES
        missing = "syncthreads or syncwarp" if same_warp else "syncthreads"
        told = f"{writer} writes {item}, and {other.short} {deed} it in {touched.place}"
        if not records.write[race.other] and wrote is not touched and _came_by(records, race):
            turn = " in the next turn of the loop" if _stands_before(wrote, touched) else ""
            told = f"{writer} overwrites {item}{turn}, and {other.short} may still read it in {touched.place}"
        message = f"{told}, with no {missing} in between."
        self.findings.add("race", wrote, message, (writer, other), memory.name, touched, times)

    def _tell_empty(self, memory: Memory, items: Ints, warp: Warp, lanes: Ints, line: LineCounts) -> None:
        threads = [self.block.thread(int(warp.thread_ids[lane])) for lane in lanes]
        message = f"{threads[0]} reads {memory.item(int(items[0]))}, where nothing was written yet."
        self.findings.add("uninitialised_read", line, message, threads, memory.name, times=len(threads))


def _came_by(records: Records, race: Race) -> bool:
    """Whether the writer's warp had itself passed the line of the other access before it wrote: it is ahead."""
    before = slice(0, race.writer)
    same_line = records.lines[before] == records.lines[race.other]
    same_warp = records.actors[before] // LANES == records.actors[race.writer] // LANES
    return bool((same_line & same_warp).any())


def _stands_before(line: LineCounts, other: LineCounts) -> bool:
    """In the source of one function. Who comes back from ``other`` to ``line`` is in a loop."""
    return line.function == other.function and line.number < other.number


def _records(memory: Memory, accesses: Sequence[Access]) -> tuple[list[LineCounts], Records, Ints]:
    """Lane by lane, what touches a contested item; the lines by number; and which rows of all these are."""
    lengths = _lengths(accesses)
    items = np.concatenate([access.of_each_lane() for access in accesses])
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
    return lines, records, kept


def _lengths(accesses: Sequence[Access]) -> list[int]:
    return [access.mask.count for access in accesses]


def _moments(accesses: Sequence[Access], kept: Ints, phase: int) -> Callable[[int], Moment]:
    """Of each row of the records."""
    number, place = rows_of(_lengths(accesses))
    return cache(lambda row: moment_of(accesses[int(number[kept[row]])], int(place[kept[row]]), phase))


def _values(accesses: Sequence[Access], kept: Ints) -> Any:
    if not len(kept):
        return np.zeros(0)
    return np.concatenate([floats(access.values, access.mask.count) for access in accesses])[kept]
