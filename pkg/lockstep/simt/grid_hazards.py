"""What the blocks of a grid touch in a whole launch: nothing orders blocks but the end of the launch.

With one exception, by which the last block can add up what all blocks have found (CUDA's threadFenceReduction): a block
writes, makes a fence, and does an atomic operation; another block does the atomic operation, sees that it is the last,
and reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lockstep.simt.counts import LineCounts
from lockstep.simt.findings import Findings
from lockstep.simt.memory import Memory
from lockstep.simt.races import Ints, Race, Records, by_lines, contested, floats, numbered, races

if TYPE_CHECKING:
    from lockstep.simt.hazards import Access
    from lockstep.simt.warp import Block


@dataclass(eq=False)
class Touched:
    """Items that one block touched in one line; whether it did an atomic operation before, and a fence afterwards."""

    block: Block
    items: Ints
    line: LineCounts
    write: bool
    atomic: bool
    values: Any
    after_atomic: bool
    fenced: bool = False


class GridHazards:
    """The accesses of global memory by all blocks."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self._touched: dict[Memory, list[Touched]] = {}
        self._written: set[Memory] = set()

    def touched(
        self, memory: Memory, block: Block, accesses: Sequence[Access], after_atomic: bool
    ) -> Sequence[Touched]:
        """Keeps what may matter later: each item that was read, once; everything that was written."""
        log: list[Touched] = []
        reads: dict[int, list[Access]] = {}
        for access in accesses:
            if access.write:
                self._written.add(memory)
                log.append(Touched(block, access.items, access.line, True, access.atomic, access.values, after_atomic))
            else:
                reads.setdefault(id(access.line), []).append(access)
        for group in reads.values():
            items = _unique(np.concatenate([access.items for access in group]), memory.flat.size)
            log.append(Touched(block, items, group[0].line, False, False, 0, after_atomic))
        self._touched.setdefault(memory, []).extend(log)
        return log

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
        lines, numbers = numbered([touched.line for touched in log])
        records = Records(
            items[kept],
            actors[kept],
            np.repeat(numbers, lengths)[kept],
            write[kept],
            np.repeat([touched.atomic for touched in log], lengths)[kept],
            np.concatenate([floats(touched.values, len(touched.items)) for touched in log])[kept],
        )
        found = races(records, 2 * records.items + _phases(log, lengths, items, memory.flat.size)[kept], records.actors)
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
        threads = (writer.thread(0), other.thread(0))
        self.findings.add("race", wrote, message, threads, memory.name, touched, times)


def _phases(log: Sequence[Touched], lengths: Sequence[int], items: Ints, size: int) -> Ints:
    """0 for each access that may be at the same time as others of its item; 1 if it surely comes later.

    It does if it follows an atomic operation, and a fence follows all accesses of the item that do not.
    """
    later = np.repeat([touched.after_atomic for touched in log], lengths)
    open_ended = np.repeat([not touched.after_atomic and not touched.fenced for touched in log], lengths)
    unsafe = np.empty(size, bool)
    unsafe[items] = False
    unsafe[items[open_ended]] = True
    return (later & ~unsafe[items]).astype(np.int64)


def _unique(items: Ints, size: int) -> Ints:
    if size > 8 * len(items):
        return np.unique(items)
    marked = np.zeros(size, bool)
    marked[items] = True
    return np.flatnonzero(marked)
