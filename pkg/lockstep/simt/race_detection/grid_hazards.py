"""What the blocks of a grid touch in a whole launch: nothing orders blocks but the end of the launch, and fences with
atomic operations (``happens_before``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from lockstep.simt.line_counts import LineCounts
from lockstep.simt.memory import Memory
from lockstep.simt.race_detection.findings import Findings
from lockstep.simt.race_detection.happens_before import (
    SLOTS,
    WHOLE,
    Access,
    Block,
    HappensBefore,
    Moment,
    Stamp,
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


@dataclass(eq=False)
class Touched:
    """Items that one block touched in one line between two barriers.

    ``access``: the request, lane by lane, if there was a fence between these barriers: it may matter who did it.
    """

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
    """The accesses of global memory by all blocks."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.order = HappensBefore()
        self.atomics = False
        self._touched: dict[Memory, list[Touched]] = {}
        self._written: set[Memory] = set()

    def touched(self, memory: Memory, block: Block, accesses: Sequence[Access], phase: int, fenced: bool) -> None:
        """Keeps what may matter later: each item that was read, once; everything that was written."""
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
        """The launch is over: judge."""
        for memory in self._written:
            log = sorted(self._touched[memory], key=lambda touched: touched.stamp.number)
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
        moment = _moments(log, lengths, kept) if self.order.used else None
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


def _moments(log: Sequence[Touched], lengths: Sequence[int], kept: Ints) -> Callable[[int], Moment]:
    """Of each row of the records."""
    number, place = rows_of(lengths)
    return cache(lambda row: log[int(number[kept[row]])].moment(int(place[kept[row]])))


def _unique(items: Ints, size: int) -> Ints:
    if size > 8 * len(items):
        return np.unique(items)
    marked = np.zeros(size, bool)
    marked[items] = True
    return np.flatnonzero(marked)
