"""A loader that loads ahead: workers load the next samples while the step computes.

    without     load 0 │ step 0 │ load 1 │ step 1 │ load 2 │ step 2         each step waits for its load
    prefetch    load 0 │ step 0 │ step 1 │ step 2
                       │ load 1 │ load 2 │ load 3                          only the first one does

``torch.utils.data.DataLoader`` has processes as workers (``num_workers``), each with ``prefetch_factor`` batches ahead;
here they are threads, which is enough for loads that wait for storage, and lets each wait be counted. Workers cannot
load faster than the storage answers and the cores decode: ``cost.loading`` has the budget.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from time import perf_counter
from typing import Generic, TypeVar

from lockstep.errors import UsageError

K = TypeVar("K")
T = TypeVar("T")


@dataclass
class Waits:
    """How often the next item was there when it was asked for (``ready``), or not (``late``); seconds waited for it."""

    ready: int = 0
    late: int = 0
    seconds: float = 0.0


class Prefetched(Generic[K, T]):
    """Iterates over ``load(key)`` for all keys, in order, with ``workers`` threads that load up to ``depth`` ahead.

    ``waits`` counts. Without workers, each item is loaded when it is asked for. Raises UsageError for a negative number
    of workers, and for a depth below 1 if there are any."""

    def __init__(self, load: Callable[[K], T], keys: Iterable[K], workers: int = 0, depth: int = 2) -> None:
        if workers < 0 or (workers and depth < 1):
            raise UsageError(
                f"{workers} workers that load {depth} ahead cannot work.", "Give workers from 0 on, and a depth of 1."
            )
        self.load, self.keys, self.workers, self.depth = load, keys, workers, depth
        self.waits = Waits()

    def __iter__(self) -> Iterator[T]:
        return self._ahead() if self.workers else self._on_demand()

    def _on_demand(self) -> Iterator[T]:
        for key in self.keys:
            began = perf_counter()
            item = self.load(key)
            self.waits.late += 1
            self.waits.seconds += perf_counter() - began
            yield item

    def _ahead(self) -> Iterator[T]:
        keys = iter(self.keys)
        pool = ThreadPoolExecutor(self.workers)
        try:
            under_way: deque[Future[T]] = deque(pool.submit(self.load, key) for key in islice(keys, self.depth))
            while under_way:
                first = under_way.popleft()
                if first.done():
                    self.waits.ready += 1
                else:
                    self.waits.late += 1
                began = perf_counter()
                item = first.result()
                self.waits.seconds += perf_counter() - began
                under_way.extend(pool.submit(self.load, key) for key in islice(keys, 1))
                yield item
        finally:
            pool.shutdown(cancel_futures=True)
