"""What cores do to each other's caches: lines that have to move from core to core, and races.

A core writes only to a line that it alone holds. Before that, all other copies are thrown away; the next core that
wants the line has to fetch it (the MESI protocol: Papamarcos and Patel, ISCA 1984). Two cores that write in turns to
the same *line* pass it back and forth, although neither ever looks at what the other wrote: false sharing.

    core 0:  write a[0]        write a[0]        write a[0]
    core 1:           write a[1]        write a[1]              every arrow is a transfer: 50 to 100 ns
    line:    0    ->  1    ->  0    ->  1    ->  0
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from lockstep.cpu.cache import LINE
from lockstep.cpu.traced import SERIAL, Access


@dataclass(frozen=True)
class Sharing:
    """What a parallel region did. ``transfers``: line → how often it moved; ``races``: addresses that one worker wrote
    and another one read or wrote."""

    transfers: dict[int, int]
    races: tuple[int, ...]

    @property
    def total(self) -> int:
        return sum(self.transfers.values())


def share(accesses: Sequence[Access], line: int = LINE) -> Sharing:
    """What the parallel regions of a traced run did: the workers' accesses side by side, one each in turn."""
    moved: Counter[int] = Counter()
    races: set[int] = set()
    for region in sorted({a[3] for a in accesses if a[2] != SERIAL}):
        inside = [a for a in accesses if a[3] == region and a[2] != SERIAL]
        moved.update(_transfers(inside, line))
        races.update(_races(inside))
    return Sharing(dict(moved), tuple(sorted(races)))


def _transfers(accesses: Sequence[Access], line: int) -> Iterator[int]:
    """The lines that move to another core, once for each time."""
    holders: dict[int, set[int]] = {}  # line → workers that have a copy
    owner: dict[int, int] = {}  # line → the worker whose copy is newer than memory
    for address, write, worker, _ in _in_turns(accesses):
        at = address // line
        here = holders.setdefault(at, set())
        elsewhere = owner.get(at, worker) != worker  # the newest copy is another core's
        if elsewhere or (write and here - {worker}):
            yield at
        if write:
            here.clear()
            owner[at] = worker
        elif elsewhere:
            del owner[at]
        here.add(worker)


def _in_turns(accesses: Sequence[Access]) -> Iterator[Access]:
    workers = sorted({a[2] for a in accesses})
    for turn in zip_longest(*([a for a in accesses if a[2] == w] for w in workers)):
        yield from (access for access in turn if access is not None)


def _races(accesses: Sequence[Access]) -> Iterator[int]:
    writers: dict[int, set[int]] = {}
    users: dict[int, set[int]] = {}
    for address, write, worker, _ in accesses:
        users.setdefault(address, set()).add(worker)
        if write:
            writers.setdefault(address, set()).add(worker)
    return (address for address in writers if len(users[address]) > 1)
