"""What the threads of a block touch between two barriers, and the blocks of a grid in a whole launch: are there races?

A barrier orders the threads of a block, ``syncwarp`` the lanes of a warp, and nothing but the end of the launch the
blocks of a grid.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lockstep.simt.counts import LineCounts
from lockstep.simt.findings import Findings
from lockstep.simt.masks import LANES, Mask
from lockstep.simt.memory import Memory
from lockstep.simt.races import Ints, Race, Records, contested, races
from lockstep.simt.values import active

if TYPE_CHECKING:
    from lockstep.simt.warp import Block, Warp

LANE = np.arange(LANES)


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

    def note(self, memory: Memory, access: Access) -> None:
        if memory in self._touched:
            self._touched[memory].append(access)
        else:
            self._touched[memory] = [access]

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
        for memory, accesses in self._touched.items():
            if memory.space == "global":
                self.grid.touched(memory, self.block, accesses)
        self._touched, self._empty = {}, []

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
        for race, times in _by_lines(found, records):
            self._tell(memory, records, lines, race, times)
        return {int(records.items[race.writer]) for race in found}

    def _tell(self, memory: Memory, records: Records, lines: Sequence[LineCounts], race: Race, times: int) -> None:
        item = memory.item(int(records.items[race.writer]))
        writer, other = (self.block.thread(int(records.actors[row])) for row in (race.writer, race.other))
        wrote, touched = (lines[records.lines[row]].number for row in (race.writer, race.other))
        deed = "writes" if records.write[race.other] else "reads"
        same_warp = records.actors[race.writer] // LANES == records.actors[race.other] // LANES
        missing = "syncthreads or syncwarp" if same_warp else "syncthreads"
        message = (
            f"Line {wrote}: {writer} writes {item}, and {other.short} {deed} it in line {touched}, "
            f"with no {missing} in between."
        )
        self.findings.add("race", wrote, message, (writer, other), memory.name, touched, times)

    def _tell_empty(self, memory: Memory, items: Ints, warp: Warp, lanes: Ints, line: LineCounts) -> None:
        threads = [self.block.thread(int(warp.thread_ids[lane])) for lane in lanes]
        message = f"Line {line.number}: {threads[0]} reads {memory.item(int(items[0]))}, where nothing was written yet."
        self.findings.add("uninitialised_read", line.number, message, threads, memory.name, times=len(threads))


class GridHazards:
    """The accesses of global memory by all blocks. Nothing orders blocks, as long as the kernel runs."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self._touched: dict[Memory, list[Touched]] = {}
        self._written: set[Memory] = set()

    def touched(self, memory: Memory, block: Block, accesses: Sequence[Access]) -> None:
        """Keeps what may matter later: each item that was read, once; everything that was written."""
        log = self._touched.setdefault(memory, [])
        reads: dict[int, list[Access]] = {}
        for access in accesses:
            if access.write:
                self._written.add(memory)
                log.append(Touched(block, access.items, access.line, True, access.atomic, access.values))
            else:
                reads.setdefault(id(access.line), []).append(access)
        for group in reads.values():
            items = _unique(np.concatenate([access.items for access in group]), memory.flat.size)
            log.append(Touched(block, items, group[0].line, False, False, 0))

    def end(self) -> None:
        """The launch is over: judge."""
        for memory in self._written:
            log = self._touched[memory]
            if len({touched.block.number for touched in log}) > 1:
                self._judge(memory, log)

    def _judge(self, memory: Memory, log: Sequence[Touched]) -> None:
        lengths = [len(touched.items) for touched in log]
        items = np.concatenate([touched.items for touched in log])
        actors = np.repeat([touched.block.number for touched in log], lengths)
        write = np.repeat([touched.write for touched in log], lengths)
        kept = contested(items, actors, write, memory.flat.size)
        if not len(kept):
            return
        blocks = {touched.block.number: touched.block for touched in log}
        lines, numbers = _numbered([touched.line for touched in log])
        records = Records(
            items[kept],
            actors[kept],
            np.repeat(numbers, lengths)[kept],
            write[kept],
            np.repeat([touched.atomic for touched in log], lengths)[kept],
            np.concatenate([_floats(touched.values, len(touched.items)) for touched in log])[kept],
        )
        found = races(records, records.items, records.actors)
        for race, times in _by_lines(found, records):
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
        wrote, touched = (lines[records.lines[row]].number for row in (race.writer, race.other))
        deed = "writes" if records.write[race.other] else "reads"
        message = (
            f"Line {wrote}: {writer} writes {item}, and {other} {deed} it in line {touched}. "
            f"Blocks run in any order, and no barrier holds between them."
        )
        threads = (writer.thread(0), other.thread(0))
        self.findings.add("race", wrote, message, threads, memory.name, touched, times)


class Touched(NamedTuple):
    """Items that one block touched in one line."""

    block: Block
    items: Ints
    line: LineCounts
    write: bool
    atomic: bool
    values: Any


def _records(memory: Memory, accesses: Sequence[Access]) -> tuple[list[LineCounts], Records, Ints, Ints]:
    """Lane by lane, what touches a contested item: lines by number, records, warps, epochs."""
    lengths = [access.mask.count for access in accesses]
    items = np.concatenate([_of_each_lane(access) for access in accesses])
    threads = np.concatenate([active(access.mask, access.warp.thread_ids) for access in accesses])
    write = np.repeat([access.write for access in accesses], lengths)
    kept = contested(items, threads, write, memory.flat.size)
    lines, numbers = _numbered([access.line for access in accesses])
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
    return np.concatenate([_floats(access.values, access.mask.count) for access in accesses])[kept]


def _of_each_lane(access: Access) -> Ints:
    return access.items if len(access.items) == access.mask.count else np.repeat(access.items, access.mask.count)


def _by_lines(found: Sequence[Race], records: Records) -> list[tuple[Race, int]]:
    """One race for each pair of lines, and how many items are raced for there."""
    pairs = [(int(records.lines[race.writer]), int(records.lines[race.other])) for race in found]
    times = Counter(pairs)
    first = dict(zip(reversed(pairs), reversed(found), strict=True))
    return [(race, times[pair]) for pair, race in first.items()]


def _unique(items: Ints, size: int) -> Ints:
    if size > 8 * len(items):
        return np.unique(items)
    marked = np.zeros(size, bool)
    marked[items] = True
    return np.flatnonzero(marked)


def _numbered(lines: Sequence[LineCounts]) -> tuple[list[LineCounts], list[int]]:
    """The different lines, and for each of ``lines`` its place among them."""
    places: dict[int, int] = {}
    different: list[LineCounts] = []
    for line in lines:
        if line.number not in places:
            places[line.number] = len(different)
            different.append(line)
    return different, [places[line.number] for line in lines]


def _floats(values: Any, count: int) -> Any:
    return np.broadcast_to(np.real(values), count).astype(np.float64)
