"""Which accesses are a race: a pure function of who touched what.

Two accesses of one item by different actors are a race if at least one of them writes, not both are atomic, and nothing
orders them: which of them comes first is then a matter of luck. Writers that all write the same value do no harm, and
are let pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lockstep.simt.counts import LineCounts

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Records:
    """Accesses that nothing orders but what ``key`` says; all arrays are (n,)."""

    items: Ints
    actors: Ints  # threads, or blocks
    lines: Ints  # a number for each source line
    write: Bools
    atomic: Bools
    values: NDArray[Any]  # float64: what was written; 0 for reads

    def only(self, rows: Ints | Bools) -> Records:
        return Records(
            self.items[rows],
            self.actors[rows],
            self.lines[rows],
            self.write[rows],
            self.atomic[rows],
            self.values[rows],
        )


@dataclass(frozen=True)
class Race:
    """Row numbers of two accesses of one item; the first one writes."""

    writer: int
    other: int


def contested(items: Ints, actors: Ints, write: Bools, size: int) -> Ints:
    """The rows of items that somebody writes and that several actors touch; the others cannot be in a race.

    Of a memory of ``size`` items only those that are touched are looked at, so that a large one costs no more.
    """
    written, shared, owner = np.empty(size, bool), np.empty(size, bool), np.empty(size, np.int64)
    written[items] = shared[items] = False
    written[items[write]] = True
    owner[items] = actors  # the last one stays
    shared[items[owner[items] != actors]] = True
    return np.flatnonzero(written[items] & shared[items])


def races(records: Records, key: Ints, actors: Ints) -> list[Race]:
    """One for each value of ``key`` (accesses that have it touch one item, unordered) with different ``actors``."""
    order = np.argsort(key, kind="stable")
    grouped = key[order]
    starts = np.flatnonzero(np.r_[True, grouped[1:] != grouped[:-1]])
    suspects = np.flatnonzero(_harmful(records.only(order), actors[order], starts))
    if not len(suspects):
        return []
    ends = np.r_[starts[1:], len(order)]
    kinds = list(zip(actors.tolist(), records.write.tolist(), records.atomic.tolist(), strict=True))
    return [_pair(order[starts[group] : ends[group]].tolist(), kinds) for group in suspects]


def _harmful(records: Records, actors: Ints, starts: Ints) -> Bools:
    """For each group of rows: is there a race in it?"""
    several = _varies(actors, starts)
    wrote = np.logical_or.reduceat(records.write, starts)
    atomic = np.logical_and.reduceat(records.atomic, starts)
    only_plain_writes = np.logical_and.reduceat(records.write & ~records.atomic, starts)
    agreed = only_plain_writes & ~_varies(records.values, starts)
    found: Bools = several & wrote & ~atomic & ~agreed
    return found


def _varies(column: NDArray[Any], starts: Ints) -> Bools:
    varies: Bools = np.minimum.reduceat(column, starts) != np.maximum.reduceat(column, starts)
    return varies


def _pair(rows: Sequence[int], kinds: Sequence[tuple[int, bool, bool]]) -> Race:
    """A writer and an access by somebody else that it conflicts with; a read tells most. ``kinds``: of each row, the
    actor, whether it writes, whether it is atomic."""
    writers = [row for row in rows if kinds[row][1]]
    for read in (row for row in rows if not kinds[row][1]):
        for writer in writers:
            if kinds[writer][0] != kinds[read][0]:
                return Race(writer, read)
    writer = next(row for row in writers if not kinds[row][2])  # a group of atomic operations alone is harmless
    return Race(writer, next(row for row in rows if kinds[row][0] != kinds[writer][0]))


def by_lines(found: Sequence[Race], records: Records) -> list[tuple[Race, int]]:
    """One race for each pair of lines, and how many items are raced for there."""
    pairs = [(int(records.lines[race.writer]), int(records.lines[race.other])) for race in found]
    times = Counter(pairs)
    first = dict(zip(reversed(pairs), reversed(found), strict=True))
    return [(race, times[pair]) for pair, race in first.items()]


def numbered(lines: Sequence[LineCounts]) -> tuple[list[LineCounts], list[int]]:
    """The different lines, and for each of ``lines`` its place among them."""
    places: dict[int, int] = {}
    different: list[LineCounts] = []
    for line in lines:
        if id(line) not in places:
            places[id(line)] = len(different)
            different.append(line)
    return different, [places[id(line)] for line in lines]


def floats(values: Any, count: int) -> Any:
    return np.broadcast_to(np.real(values), count).astype(np.float64)
