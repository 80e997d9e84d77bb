"""Race detection in shared and global memory, by the accesses of a block between two barriers, and of all blocks.

A barrier orders the threads of a block, ``syncwarp`` the lanes of a warp, and fences with atomic operations order any
threads (``happens_before``). The blocks of a grid are ordered by nothing but fences and the end of the launch. A block
is judged at each barrier, where reads of memory that nothing was written to are found as well; the grid at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from lockstep.simt.lane_values import active
from lockstep.simt.masks import LANES
from lockstep.simt.memory import Memory
from lockstep.simt.profile import LineCounts
from lockstep.simt.race_detection.findings import Findings
from lockstep.simt.race_detection.happens_before import (
    SLOTS,
    WHOLE,
    Access,
    Block,
    HappensBefore,
    Moment,
    Stamp,
    Warp,
    moment_of,
)
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

ORDERED = (
    "To order them, let both use atomic operations on one item: the first behind a threadfence, "
    "the second in front of one."
)


# ---- of one block


class BlockHazards:
    """The accesses of one block since its last barrier. ``phase`` counts barriers; ``fenced``: a fence or release
    since."""

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
        """Note a read where nothing has been written. It is reported at the barrier, since it is a race if another
        thread writes there until then."""
        self._empty.append((memory, items, warp, lanes, line))

    def barrier(self, warps: Sequence[Warp]) -> None:
        """All threads of the block have come here, or have ended: report races, and start again. ``warps`` go on."""
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
        """Report the races; returns the items that are raced for."""
        items = [access.of_each_lane() for access in accesses]
        threads = np.concatenate([active(access.mask, access.warp.thread_ids) for access in accesses])
        lines, records, kept = _records(memory, items, threads, accesses)
        if not len(kept):
            return set()
        lengths = [access.mask.count for access in accesses]
        if self.fenced:
            moment = _by_row(lengths, kept, lambda number, place: moment_of(accesses[number], place, self.phase))
            found = races(records, records.items, records.actors, moment)
        else:
            epochs = np.repeat([access.epoch for access in accesses], lengths)[kept]
            found = self._of_warps_and_lanes(records, records.actors // LANES, epochs)
        for race, times in by_lines(found, records):
            self._tell(memory, records, lines, race, times)
        return {int(records.items[race.writer]) for race in found}

    def _of_warps_and_lanes(self, records: Records, warps: Ints, epochs: Ints) -> list[Race]:
        """Races between warps, then between lanes of one warp, which syncwarp orders."""
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
    """Whether ``line`` is above ``other`` in the source of one function: going from ``other`` to ``line`` is a loop."""
    return line.function == other.function and line.number < other.number


# ---- of the grid


@dataclass(eq=False)
class Touched:
    """Items that one block accessed in one line between two barriers.

    ``access``: the request, lane by lane, if there was a fence between these barriers: then it matters which thread it
    was."""

    block: Block
    items: Ints
    line: LineCounts
    write: bool
    atomic: bool
    values: Any
    phase: int
    stamp: Stamp
    access: Access | None = None

    def moment(self, place: int) -> Moment:
        if self.access is not None:
            return moment_of(self.access, place, self.phase)
        slot = self.block.number * SLOTS + WHOLE
        return Moment(slot, self.block.number, self.phase, self.stamp.known[0])  # without a fence, all know the same


class GridHazards:
    """The accesses of global memory by all blocks of a launch."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.order = HappensBefore()
        self.atomics = False
        self._touched: dict[Memory, list[Touched]] = {}
        self._written: set[Memory] = set()

    def touched(self, memory: Memory, block: Block, accesses: Sequence[Access], phase: int, fenced: bool) -> None:
        """Keep what may matter later: each item that was read, once; everything that was written."""
        log = self._touched.setdefault(memory, [])
        reads: dict[int, list[Access]] = {}
        for access in accesses:
            self.atomics |= access.atomic
            if access.write:
                self._written.add(memory)
            if fenced or access.write:
                items = access.of_each_lane()
                whole = Touched(
                    block, items, access.line, access.write, access.atomic, access.values, phase, access.stamp
                )
                whole.access = access if fenced else None
                log.append(whole)
            else:
                reads.setdefault(id(access.line), []).append(access)
        for group in reads.values():
            items = _unique(np.concatenate([access.items for access in group]), memory.flat.size)
            log.append(Touched(block, items, group[0].line, False, False, 0, phase, group[0].stamp))

    def end(self) -> None:
        """The launch is over: report races."""
        for memory in self._written:
            log = sorted(self._touched[memory], key=lambda touched: touched.stamp.number)
            if len({touched.block.number for touched in log}) > 1:
                self._judge(memory, log)

    def _judge(self, memory: Memory, log: Sequence[Touched]) -> None:
        items = [touched.items for touched in log]
        lengths = [len(touched.items) for touched in log]
        actors = np.repeat([touched.block.number for touched in log], lengths)
        lines, records, kept = _records(memory, items, actors, log)
        if not len(kept):
            return
        blocks = {touched.block.number: touched.block for touched in log}
        moment = _by_row(lengths, kept, lambda number, place: log[number].moment(place)) if self.order.used else None
        found = races(records, records.items, records.actors, moment)
        for race, times in by_lines(found, records):
            self._tell(memory, records, lines, race, blocks, times)

    def _tell(
        self,
        memory: Memory,
        records: Records,
        lines: Sequence[LineCounts],
        race: Race,
        blocks: dict[int, Block],
        times: int,
    ) -> None:
        item = memory.item(int(records.items[race.writer]))
        writer, other = (blocks[int(records.actors[row])] for row in (race.writer, race.other))
        wrote, touched = (lines[records.lines[row]] for row in (race.writer, race.other))
        deed = "writes" if records.write[race.other] else "reads"
        message = (
            f"{writer} writes {item}, and {other} {deed} it in {touched.place}. "
            f"Blocks run in any order, and no barrier holds between them."
        )
        if self.atomics:
            message += " " + ORDERED
        threads = (writer.thread(0), other.thread(0))
        self.findings.add("race", wrote, message, threads, memory.name, touched, times)


def _unique(items: Ints, size: int) -> Ints:
    if size > 8 * len(items):
        return np.unique(items)
    marked = np.zeros(size, bool)
    marked[items] = True
    return np.flatnonzero(marked)


# ---- for both


def _records(
    memory: Memory, items: Sequence[Ints], actors: Ints, of: Sequence[Access | Touched]
) -> tuple[list[LineCounts], Records, Ints]:
    """The accesses ``of`` contested items, one row for each lane; their lines, by number; and the indices of these rows
    among all.

    ``items``: of each access, one for each lane; ``actors``: the threads or blocks of all rows."""
    lengths = [len(one) for one in items]
    rows = np.concatenate(items)
    write = np.repeat([one.write for one in of], lengths)
    kept = contested(rows, actors, write, memory.flat.size)
    lines, numbers = numbered([one.line for one in of])
    records = Records(
        rows[kept],
        actors[kept],
        np.repeat(numbers, lengths)[kept],
        write[kept],
        np.repeat([one.atomic for one in of], lengths)[kept],
        _values(of, lengths, kept),
    )
    return lines, records, kept


def _values(of: Sequence[Access | Touched], lengths: Sequence[int], kept: Ints) -> Any:
    if not len(kept):
        return np.zeros(0)
    return np.concatenate([floats(one.values, length) for one, length in zip(of, lengths, strict=True)])[kept]


def _by_row(lengths: Sequence[int], kept: Ints, moment: Callable[[int, int], Moment]) -> Callable[[int], Moment]:
    """The moment of each row of the records, given ``moment`` of an access's number and a place in it."""
    number, place = rows_of(lengths)
    return cache(lambda row: moment(int(number[kept[row]]), int(place[kept[row]])))
