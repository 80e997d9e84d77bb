# mypy: disable-error-code="untyped-decorator"
"""Several threads in one memory: false sharing in a parallel sum, races of threads that count, and atomic additions.

**A parallel sum.** Where does each thread keep its part?

    shared counters    partial[w] += x[i]       neighbours in an array are in one cache line: the cores take it from
                                                each other at every addition (false sharing)
    own variable       s += x[i], and partial[w] = s once at the end: a register needs no line
    padded counters    partial[w, 0] += x[i] with 8 float64 per row: each counter has a line of its own

**Threads that count.** Time is each thread's own processor time. A thread that waits for a cache line computes nothing,
and its processor time goes on: so false sharing shows, and other programs on the machine hardly do. The longest of the
threads is the time on as many free cores.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import njit, prange, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array


@njit(parallel=True)
def parallel_sum(x: Any, workers: int) -> float:
    """The sum of ``x`` (float64): each of ``workers`` threads adds up one contiguous piece."""
    partial = np.zeros(workers)
    for w in prange(workers):
        first, last = w * x.size // workers, (w + 1) * x.size // workers
        s = 0.0
        for i in range(first, last):
            s += x[i]
        partial[w] = s
    total = 0.0
    for w in range(workers):
        total += partial[w]
    return total


# ---- threads that count


def thread_seconds(works: Sequence[Callable[[], object]]) -> list[float]:
    """Run each of ``works`` on a thread of its own, started together; the processor seconds of each.

    They run in parallel only if they release Python's GIL: compiled with ``nogil=True``.
    """
    gate = threading.Barrier(len(works))
    seconds = [0.0] * len(works)

    def run(number: int) -> None:
        gate.wait()
        begin = time.thread_time()
        works[number]()
        seconds[number] = time.thread_time() - begin

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seconds


@njit(nogil=True)
def count(classes: Any, counts: Any, turns: int) -> None:
    """Add one to ``counts[c]`` for each c in ``classes``, ``turns`` times over.

    The next counter depends on the data, so the compiler cannot keep it in a register: every addition is a load, an add
    and a store.
    """
    for _ in range(turns):
        for i in range(classes.size):
            counts[classes[i]] += 1


def pointer(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """Inside an intrinsic, the LLVM pointer to ``array[index]``. ``kind``: the array's type."""
    whole = make_array(kind)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, kind, whole, [index])


@intrinsic
def add_one(_: Any, array: Any, index: Any) -> Any:
    """``array[index] += 1`` as one atomic instruction, which numba does not provide for CPUs."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = signature.args[0]
        place = pointer(context, builder, kind, values[0], values[1])
        builder.atomic_rmw("add", place, context.get_constant(kind.dtype, 1), "seq_cst")
        return context.get_dummy_value()

    return types.void(array, index), code


@njit(nogil=True)
def count_atomically(classes: Any, counts: Any, turns: int) -> None:
    """``count`` with atomic additions. ``counts``: an array of integers."""
    for _ in range(turns):
        for i in range(classes.size):
            add_one(counts, classes[i])


def count_together(classes: Any, rows: Any, turns: int = 1, kernel: Callable[..., None] = count) -> list[float]:
    """Each thread counts the same ``classes`` ``turns`` times into its own row of ``rows``; processor seconds of each.

    Rows in the same cache line are false sharing. The same row for all of them is a race, unless ``kernel`` is
    ``count_atomically``.
    """
    kernel(classes, rows[0], 0)  # compiled now, and not in all threads at once
    return thread_seconds([functools.partial(kernel, classes, row, turns) for row in rows])
