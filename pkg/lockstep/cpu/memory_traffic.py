"""Caches: hits and misses, cache lines that move between cores, and both counted for a kernel on small arrays.

**A cache**, access by access: set-associative, with LRU eviction.

    address  = 0 1 2 ... 63 | 64 ...            bytes
    line     = address // 64                    64 bytes are moved at once
    set      = line mod number of sets          the set that may hold it
    ways     = lines that fit into one set      if it is full, the least recently used line is evicted (LRU)

Real caches add levels, prefetchers and other eviction policies. Counts here are exact and the same on every machine; on
a real one hardware counters report them (``perf stat -e cache-misses``). Hennessy and Patterson, Computer Architecture,
appendix B.

**Coherence.** A core writes only to a line that it holds exclusively: all other copies are invalidated first, and the
next core that needs the line has to fetch it (the MESI protocol: Papamarcos and Patel, ISCA 1984). Two cores that write
in turns to the same *line* pass it back and forth, although neither ever reads what the other wrote: false sharing.

    core 0:  write a[0]        write a[0]        write a[0]
    core 1:           write a[1]        write a[1]              every arrow is a transfer: 50 to 100 ns
    line:    0    ->  1    ->  0    ->  1    ->  0
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from lockstep.cpu.tracing import LINE, SERIAL, Access, Memory, trace
from lockstep.errors import UsageError

SMALL = 2048  # bytes of the cache of ``misses``: 32 lines
SHAPES = ((24, 40), (40, 40))


class Cache:
    """A set-associative cache of ``size`` bytes in lines of ``line`` bytes, ``ways`` lines per set, with LRU
    eviction."""

    def __init__(self, size: int = 32 * 1024, line: int = LINE, ways: int = 8) -> None:
        if min(size, line, ways) < 1 or size % (line * ways):
            raise UsageError(f"A cache of {size} bytes has no whole sets of {ways} lines of {line} bytes.")
        self.line, self.ways = line, ways
        self._sets: list[dict[int, None]] = [{} for _ in range(size // (line * ways))]  # in order of last use
        self.hits = self.misses = 0

    def access(self, address: int) -> bool:
        """Read or write at ``address`` (bytes), and return whether it was a hit. A miss loads the line."""
        line = address // self.line
        held = self._sets[line % len(self._sets)]
        if line in held:
            del held[line]
            held[line] = None
            self.hits += 1
            return True
        if len(held) == self.ways:
            del held[next(iter(held))]
        held[line] = None
        self.misses += 1
        return False


# ---- coherence


@dataclass(frozen=True)
class Sharing:
    """The coherence traffic of a run. ``transfers``: line → how often it moved to another core; ``races``: addresses
    that one worker wrote and another one read or wrote."""

    transfers: dict[int, int]
    races: tuple[int, ...]

    @property
    def total(self) -> int:
        return sum(self.transfers.values())


def share(accesses: Sequence[Access], line: int = LINE) -> Sharing:
    """The line transfers and races in the parallel regions of a traced run. The workers' accesses are interleaved, one
    each in turn."""
    moved: Counter[int] = Counter()
    races: set[int] = set()
    for region in sorted({a[3] for a in accesses if a[2] != SERIAL}):
        inside = [a for a in accesses if a[3] == region and a[2] != SERIAL]
        moved.update(_transfers(inside, line))
        races.update(_races(inside))
    return Sharing(dict(moved), tuple(sorted(races)))


def _transfers(accesses: Sequence[Access], line: int) -> Iterator[int]:
    """The line of each transfer to another core."""
    return (access[0] // line for access, moved in in_turns(accesses, line) if moved)


def in_turns(accesses: Sequence[Access], line: int = LINE) -> Iterator[tuple[Access, bool]]:
    """The workers' accesses, one each in turn, and whether its line moves to another core for it."""
    holders: dict[int, set[int]] = {}  # line → workers that have a copy
    owner: dict[int, int] = {}  # line → the worker whose copy is newer than memory
    for access in _turns(accesses):
        address, write, worker, _ = access
        at = address // line
        here = holders.setdefault(at, set())
        elsewhere = owner.get(at, worker) != worker  # the newest copy is another core's
        yield access, bool(elsewhere or (write and here - {worker}))
        if write:
            here.clear()
            owner[at] = worker
        elif elsewhere:
            del owner[at]
        here.add(worker)


def _turns(accesses: Sequence[Access]) -> Iterator[Access]:
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


# ---- of a kernel


def misses(kernel: Callable[..., Any], *more: Any, size: int = SMALL) -> int:
    """The cache misses of ``kernel(A, B, *more)``, A of 24 x 40 and B of 40 x 40 float64, in a cache of ``size``
    bytes."""
    memory, cache = Memory(), Cache(size)
    A, B = (memory.place(np.ones(shape), name) for shape, name in zip(SHAPES, "AB", strict=True))
    trace(kernel, memory, A, B, *more)
    for address, *_ in memory.accesses:
        cache.access(address)
    return cache.misses


def transfers(kernel: Callable[..., Any], numbers: int, workers: int) -> tuple[int, Sequence[Access]]:
    """(line transfers between cores in ``kernel(x, workers)``, all its accesses), for x with ``numbers`` elements."""
    memory = Memory(workers=workers)
    trace(kernel, memory, memory.place(np.ones(numbers), "x"), workers)
    return share(memory.accesses).total, memory.accesses


def written(accesses: Sequence[Access]) -> list[tuple[int, int]]:
    """The distinct (address, worker) pairs of all writes by workers."""
    return sorted({(address, worker) for address, write, worker, _ in accesses if write and worker >= 0})
