"""Data races, as a pure function of a list of accesses.

Two accesses of one item by different actors are a race if at least one of them writes, not both are atomic, and nothing
orders them: which of them comes first is then undefined. Writers that all write the same value do no harm, and are
allowed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lockstep.simt.profile import LineCounts
from lockstep.simt.race_detection.happens_before import Moment, before

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Records:
    """A list of accesses in the order of the run, as columns (n,)."""

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
    """The row numbers of two accesses of one item; the first one writes."""

    writer: int
    other: int


def contested(items: Ints, actors: Ints, write: Bools, size: int) -> Ints:
    """The rows of items that are written and that several actors access; the others cannot be in a race.

    Of a memory of ``size`` items only those that are accessed are looked at, so that a large memory costs no more."""
    written, shared, owner = np.empty(size, bool), np.empty(size, bool), np.empty(size, np.int64)
    written[items] = shared[items] = False
    written[items[write]] = True
    owner[items] = actors  # the last one stays
    shared[items[owner[items] != actors]] = True
    return np.flatnonzero(written[items] & shared[items])


def races(records: Records, key: Ints, actors: Ints, moment: Callable[[int], Moment] | None = None) -> list[Race]:
    """At most one race for each value of ``key`` (accesses of one key access one item) with different ``actors``.

    Accesses of one key are unordered, unless ``moment`` gives the moment of each row. Rows are in the order of the
    run."""
    order = np.argsort(key, kind="stable")
    grouped = key[order]
    starts = np.flatnonzero(np.r_[True, grouped[1:] != grouped[:-1]])
    suspects = np.flatnonzero(_harmful(records.only(order), actors[order], starts))
    if not len(suspects):
        return []
    ends = np.r_[starts[1:], len(order)]
    kinds = list(zip(actors.tolist(), records.write.tolist(), records.atomic.tolist(), strict=True))
    groups = [order[starts[group] : ends[group]].tolist() for group in suspects]
    if moment is None:
        return [_pair(group, kinds) for group in groups]
    found = (_unordered(group, kinds, records.values.tolist(), moment) for group in groups)
    return [race for race in found if race is not None]


def _harmful(records: Records, actors: Ints, starts: Ints) -> Bools:
    """For each group of rows, whether there is a race in it."""
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
    """A writer and a conflicting access by another actor; preferably a read, which is most instructive. ``kinds``: of
    each row, the actor, whether it writes, whether it is atomic."""
    writers = [row for row in rows if kinds[row][1]]
    for read in (row for row in rows if not kinds[row][1]):
        for writer in writers:
            if kinds[writer][0] != kinds[read][0]:
                return Race(writer, read)
    writer = next(row for row in writers if not kinds[row][2])  # a group of atomic operations alone is harmless
    return Race(writer, next(row for row in rows if kinds[row][0] != kinds[writer][0]))


def _unordered(
    rows: Sequence[int],
    kinds: Sequence[tuple[int, bool, bool]],
    values: Sequence[float],
    moment: Callable[[int], Moment],
) -> Race | None:
    """The first two accesses that conflict and that are not ordered.

    Of each thread only its latest access of a kind is kept: what comes after that comes after the earlier ones, too.
    For the same reason a plain write discards all that comes before it."""
    readers: dict[tuple[int, bool], int] = {}
    writers: dict[tuple[int, bool], int] = {}
    for row in rows:
        actor, write, atomic = kinds[row]
        now = moment(row)
        for open_ones in (writers, readers) if write else (writers,):
            for key, other in list(open_ones.items()):
                if before(moment(other), now):
                    if write and not atomic:
                        del open_ones[key]
                elif kinds[other][0] != actor and not _harmless(kinds[other], kinds[row], values[other] == values[row]):
                    return Race(row, other) if write and not (atomic and kinds[other][1]) else Race(other, row)
        (writers if write else readers)[now.slot, atomic] = row
    return None


def _harmless(one: tuple[int, bool, bool], other: tuple[int, bool, bool], alike: bool) -> bool:
    """Both atomic, or both plain writes of one value."""
    both_write = one[1] and other[1]
    return (one[2] and other[2]) or (both_write and not one[2] and not other[2] and alike)


def by_lines(found: Sequence[Race], records: Records) -> list[tuple[Race, int]]:
    """One race for each pair of lines, and how many items are raced for there."""
    pairs = [(int(records.lines[race.writer]), int(records.lines[race.other])) for race in found]
    times = Counter(pairs)
    first = dict(zip(reversed(pairs), reversed(found), strict=True))
    return [(race, times[pair]) for pair, race in first.items()]


def numbered(lines: Sequence[LineCounts]) -> tuple[list[LineCounts], list[int]]:
    """The distinct lines, and for each of ``lines`` its index among them."""
    places: dict[int, int] = {}
    different: list[LineCounts] = []
    for line in lines:
        if id(line) not in places:
            places[id(line)] = len(different)
            different.append(line)
    return different, [places[id(line)] for line in lines]


def rows_of(lengths: Sequence[int]) -> tuple[Ints, Ints]:
    """For each row of several accesses of these lengths: the number of its access, and its place in it."""
    number: Ints = np.repeat(np.arange(len(lengths)), lengths)
    begin: Ints = np.cumsum(lengths, dtype=np.int64) - np.array(lengths, np.int64)
    return number, np.arange(len(number)) - begin[number]


def floats(values: Any, count: int) -> Any:
    return np.broadcast_to(np.real(values), count).astype(np.float64)
