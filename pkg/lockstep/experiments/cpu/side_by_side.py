"""Two threads that count, as tables: lost updates in a race, the cost of an atomic addition and of false sharing."""

from __future__ import annotations

import statistics
import time

import numpy as np

from lockstep.cpu.threads import count, count_atomically, count_together
from lockstep.tables import Table

ELEMENTS, COUNTERS = 100_000, 4


def race_table(turns: int = 100) -> Table:
    """Each of two threads increments the same four counters, ``turns`` x 100,000 times: plainly, and atomically."""
    classes, rows = _classes(), []
    for kernel, name in ((count, "load, add, store"), (count_atomically, "one atomic addition")):
        alone = min(count_together(classes, [np.zeros(COUNTERS, np.int64)], turns, kernel))
        shared = np.zeros(COUNTERS, np.int64)
        both = max(count_together(classes, [shared, shared], turns, kernel))
        wanted = 2 * turns * ELEMENTS
        there = f"{int(shared.sum()):,} of {wanted:,}"
        rows.append((name, *(f"{1e9 * s / turns / ELEMENTS:.2f} ns" for s in (alone, both)), there))
    return Table("Two threads, the same four counters", ("an increment", "alone", "with two threads", "arrived"), rows)


def lines_table(turns: int = 100, runs: int = 5) -> Table:
    """Each of two threads has counters of its own: in one line of 64 bytes, or 512 bytes apart. Thread seconds do not
    count the waiting for a busy core, so the last column is how many of the two really ran in parallel."""
    classes, rows = _classes(), []
    for apart, name in ((COUNTERS, "in one line"), (64, "512 bytes apart")):
        found, began = [], time.perf_counter()
        for _ in range(runs):
            found.append(count_together(classes, np.zeros((2, apart), np.int64), turns))
        running = sum(map(sum, found)) / (time.perf_counter() - began)
        ns = [1e9 * max(seconds) / turns / ELEMENTS for seconds in found]
        rows.append((name, f"{min(ns):.2f} ns", f"{statistics.median(ns):.2f} ns", f"{running:.1f} of 2"))
    head = ("counters", "an increment, best", "median", "threads running")
    return Table("Two threads, each with counters of its own", head, rows)


def _classes() -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.random.default_rng(0).integers(0, COUNTERS, ELEMENTS)
