# mypy: disable-error-code="untyped-decorator"
"""The updates that a race loses, counted, in runs of their own because counting changes the race.

A thread that adds 1 to a counter loads it, adds, and stores. What another thread stores in between is overwritten and
lost. How many are lost depends on how often two threads use the same counter: with a single counter up to half of them,
with a hundred thousand hardly any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numba import njit

from lockstep import tally
from lockstep.cpu.threads import count, count_atomically, thread_seconds
from lockstep.tables import Table
from lockstep.without_waiting.hogwild import Examples, slope

INCREMENTS = 1_000_000
COUNTERS = (1, 16, 1_000, 100_000)
REPEATS = 20


def surviving(counters: int, threads: int = 2, increments: int = INCREMENTS, kernel: Callable[..., None] = count,
              seed: int = 0) -> int:  # fmt: skip
    """The sum of all counters after ``increments`` additions of 1 to ``counters`` shared counters, each to a random
    one, by ``threads`` threads that start together."""
    dice, counts = np.random.default_rng(seed), np.zeros(counters, np.int64)
    drawn = np.array_split(dice.integers(0, counters, increments), threads)
    thread_seconds([partial(kernel, part, counts, 1) for part in drawn])
    return int(counts.sum())


def survivors(
    counters: Sequence[int] = COUNTERS, threads: int = 2, increments: int = INCREMENTS, repeats: int = REPEATS
) -> Table:
    """Of a million counted increments, how many survive with ``threads`` threads, on a few shared counters and on many:
    the least of ``repeats`` runs, without a lock and with atomic additions. (A run takes a millisecond. Where the
    threads did not run at the same time, all survive, and the run says nothing.)"""
    for kernel in tally.counted((count, count_atomically), "Compiling", each=1):
        surviving(1, 1, 1, kernel)
    rows = []
    for many in tally.counted(counters, "Counting", each=1):
        racy, atomic = (
            min(surviving(many, threads, increments, kernel, seed) for seed in range(repeats))
            for kernel in (count, count_atomically)
        )
        rows.append([f"{many:,}", f"{racy:,}", f"{1 - racy / increments:.2%}", f"{atomic:,}"])
    caption = f"{increments:,} increments by {threads} threads: what survives in the worst of {repeats} runs"
    return Table(caption, ["counters", "racy", "lost", "atomic"], rows)


def overtaken(examples: Examples, rate: float, threads: int = 2, seed: int = 0) -> float:
    """The share of an epoch's steps in which another thread wrote one of the step's coordinates after this thread had
    begun to read them, and before it wrote them."""
    order = np.random.default_rng(seed).permutation(len(examples))
    w, written, found = np.zeros(examples.size), np.zeros(examples.size, np.int64), np.zeros((threads, 8), np.int64)
    widest = int(np.diff(examples.begins).max())
    parts = [order[t::threads].copy() for t in range(threads)]
    count_overtaken(order[:0], 0, threads, rate, widest, *examples.arrays, w, written, found[0])  # compiled now
    thread_seconds([
        partial(count_overtaken, part, t, threads, rate, widest, *examples.arrays, w, written, found[t])
        for t, part in enumerate(parts)
    ])  # fmt: skip
    return float(found[:, 0].sum() / len(examples))


@njit(nogil=True)
def count_overtaken(
    order: Any, thread: Any, threads: Any, rate: Any, widest: Any,
    begins: Any, coordinates: Any, values: Any, labels: Any, w: Any, written: Any, found: Any,
) -> None:  # fmt: skip
    """Racy steps that note in ``written`` who wrote a coordinate last, and in which step; ``found[0]`` counts the
    overtaken ones."""
    before = np.zeros(widest, np.int64)
    for n in range(order.size):
        i = order[n]
        begin, end = begins[i], begins[i + 1]
        for k in range(begin, end):
            before[k - begin] = written[coordinates[k]]
        pull = rate * slope(i, begins, coordinates, values, labels, w)
        changed = False
        for k in range(begin, end):
            changed |= before[k - begin] != written[coordinates[k]]
        found[0] += changed
        for k in range(begin, end):
            w[coordinates[k]] -= pull * values[k]
            written[coordinates[k]] = 1 + thread + threads * n
