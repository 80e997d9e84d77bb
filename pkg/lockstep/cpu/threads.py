# mypy: disable-error-code="untyped-decorator"
"""Several threads in one memory: how long each of them computed, what they lose in a race, what a shared line costs.

Time is each thread's own processor time. A thread that waits for a cache line computes nothing, and its processor time
goes on: so false sharing shows, and other programs on the machine hardly do. The longest of the threads is how long it
takes on as many free cores.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array


def thread_seconds(works: Sequence[Callable[[], object]]) -> list[float]:
    """Run each of ``works`` on a thread of its own, beginning together; the processor seconds of each.

    They run side by side only if they let go of Python's lock: compiled with ``nogil=True``.
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

    Which counter comes next is known only from the data, so the compiler cannot keep it in a register: every addition
    is a load, an add and a store.
    """
    for _ in range(turns):
        for i in range(classes.size):
            counts[classes[i]] += 1


def pointer(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """Inside an intrinsic, where ``array[index]`` is in memory. ``kind``: the array's type."""
    whole = make_array(kind)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, kind, whole, [index])


@intrinsic
def add_one(_: Any, array: Any, index: Any) -> Any:
    """``array[index] += 1`` as one instruction that no other core can come between: numba has none for CPUs."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = signature.args[0]
        place = pointer(context, builder, kind, values[0], values[1])
        builder.atomic_rmw("add", place, context.get_constant(kind.dtype, 1), "seq_cst")
        return context.get_dummy_value()

    return types.void(array, index), code


@njit(nogil=True)
def count_atomically(classes: Any, counts: Any, turns: int) -> None:
    """The same as ``count``, with atomic additions. ``counts``: an array of integers."""
    for _ in range(turns):
        for i in range(classes.size):
            add_one(counts, classes[i])


def count_together(classes: Any, rows: Any, turns: int = 1, kernel: Callable[..., None] = count) -> list[float]:
    """Each thread counts the same ``classes`` ``turns`` times into its own row of ``rows``; processor seconds of each.

    Rows that share a cache line are false sharing. One row given to all of them is a race, unless ``kernel`` is
    ``count_atomically``.
    """
    kernel(classes, rows[0], 0)  # compiled now, and not in all threads at once
    return thread_seconds([partial(kernel, classes, row, turns) for row in rows])
