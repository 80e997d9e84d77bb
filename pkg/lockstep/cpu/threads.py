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

from numba import njit


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


def count_together(classes: Any, rows: Any, turns: int = 1) -> list[float]:
    """Each thread counts the same ``classes`` ``turns`` times into its own row of ``rows``; processor seconds of each.

    Rows that share a cache line are false sharing; one row given to all of them is a race.
    """
    count(classes, rows[0], 0)  # compiled now, and not in all threads at once
    return thread_seconds([partial(count, classes, row, turns) for row in rows])
