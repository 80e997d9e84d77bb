"""HOGWILD! without a lock against the same threads with one: an epoch of sparse logistic regression in shared memory.

One thread, threads that race, threads that add atomically and threads that lock each step take turns. Time is the CPU
time of the slowest thread: it hardly depends on other programs, and it includes waiting for the lock.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from lockstep.bench.table import Row, Table
from lockstep.bench.timing import Size
from lockstep.this_machine.host import cores
from lockstep.without_waiting.hogwild import EXAMPLES, KERNELS, RATES, compile_kernels, data_sets, seconds

THREADS: Mapping[Size, tuple[int, ...]] = {"quick": (2,), "normal": (2, 4), "full": (2, 4, 8)}
REPEATS: Mapping[Size, int] = {"quick": 2, "normal": 31, "full": 101}
LENGTHS: Mapping[Size, int] = {"quick": 500, "normal": EXAMPLES, "full": EXAMPLES}


def tables(size: Size) -> list[Table]:
    compile_kernels()
    usable = cores().usable
    counts = [
        n for n in THREADS[size] if n <= max(2, usable)
    ]  # on a shared core, a spinning thread keeps the lock's owner off
    rows = [
        row(name, threads, seconds(examples, RATES[name], threads, REPEATS[size]))
        for threads in counts
        for name, examples in data_sets(LENGTHS[size]).items()
    ]
    notes = [
        f"Medians of {REPEATS[size]} epochs, in turn. Ratio: the median over the turns, of the racy threads' time by "
        "that of the locked ones beside it. Speedup: the time of one thread by the racy threads'.",
        "At once: how many racy threads ran side by side, on average. Where that is far from their number, other "
        "programs had the cores, the threads took turns, and these numbers say little about locks.",
    ]
    return [Table("hogwild: an epoch with and without a lock on this machine", rows, notes)]


def row(name: str, threads: int, found: Mapping[str, list[float]]) -> Row:
    ratios = [racy / locked for racy, locked in zip(found["racy"], found["locked"], strict=True)]
    times = {f"{way} [ms]": median(found[way]) * 1e3 for way in ("serial", *KERNELS)}
    speedup = median(found["serial"]) / median(found["racy"])
    at_once = median(found["at once"])
    return {"data": name, "threads": threads, **times, "at once": at_once, "speedup": speedup,
            "ratio racy to locked": median(ratios)}  # fmt: skip
