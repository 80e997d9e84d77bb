"""A workload that is too light to be parallel: handing a task over takes longer than the task.

    alone        task task task task                          n · task
    on workers   hand over │ task │ hand back │ …             n · (task + handing over) / workers, at best

Handing over is a queue, a lock and a switch of threads; between processes also pickling and a pipe. The operating
system counts how often the process gave up its core to wait (``getrusage``: voluntary context switches).
"""

from __future__ import annotations

import resource
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor


def task(numbers: Sequence[float]) -> float:
    """About a microsecond of work for 10 numbers."""
    return sum(numbers)


def alone(tasks: Sequence[Sequence[float]]) -> list[float]:
    return [task(numbers) for numbers in tasks]


def on_workers(tasks: Sequence[Sequence[float]], workers: int = 2) -> list[float]:
    """Each task is handed to one of ``workers`` threads, and its result handed back before the next one is."""
    with ThreadPoolExecutor(workers) as pool:
        return [pool.submit(task, numbers).result() for numbers in tasks]


def switches() -> int:
    """How often this process has given up a core to wait, since it began."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
