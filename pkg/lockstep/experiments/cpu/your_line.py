"""The learner's lines of lesson 02 in a real program, as tables."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from lockstep.cpu.memory_traffic import SMALL, Cache
from lockstep.cpu.tracing import LINE
from lockstep.tables import Table

SIDE = 40  # of the matrix


def walks_table(line_of: Callable[[int, int, int], int]) -> Table:
    """Two traversals of a matrix of 40 x 40, and the misses of a cache of 32 lines if element (i, j) is in line
    ``line_of(i, j, columns)``."""
    orders = {
        "along the rows": [(i, j) for i in range(SIDE) for j in range(SIDE)],
        "down the columns": [(i, j) for j in range(SIDE) for i in range(SIDE)],
    }
    rows = []
    for name, order in orders.items():
        cache, lines = Cache(SMALL), [line_of(i, j, SIDE) for i, j in order]
        for line in lines:
            cache.access(line * LINE)
        rows.append((name, f"{len(lines):,}", f"{len(set(lines)):,}", f"{cache.misses:,}"))
    return Table("40 x 40 numbers and 32 lines of cache", ("a walk", "elements", "lines", "misses"), rows)


def pieces_table(first: Callable[[int, int, int], int], numbers: int = 10, workers: int = 4) -> Table:
    """What each of ``workers`` adds up of 0, 1, 2 …, if the piece of worker w begins at ``first(w, n, workers)`` and
    ends where the next one begins."""
    edges = [first(w, numbers, workers) for w in range(workers + 1)]
    pieces = [range(a, b) for a, b in pairwise(edges)]
    rows = [(str(w), ", ".join(map(str, p)), str(len(p)), str(sum(p))) for w, p in enumerate(pieces)]
    rows.append(("all", "", str(sum(map(len, pieces))), str(sum(map(sum, pieces)))))
    return Table(f"{numbers} numbers, {workers} workers", ("worker", "adds up", "elements", "sum"), rows)
