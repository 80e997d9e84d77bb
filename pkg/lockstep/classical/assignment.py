"""Static and dynamic assignment of rows to workers: decided in advance, or whenever a worker is idle.

The rows of an image of the Mandelbrot set are independent, and differ sixtyfold in work. The cost of a row is counted
in iterations, so that every number here is the same on each machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

ROWS, COLUMNS, LIMIT = 64, 96, 200

Assigned = list[list[int]]  # the rows of each worker, in the order in which it computes them
NextWorker = Callable[[list[float]], int]  # (when each worker is done with its rows) -> who gets the next one


def mandelbrot_rows(rows: int = ROWS, columns: int = COLUMNS, limit: int = LIMIT) -> list[int]:
    """The cost of each row: the iterations of z → z² + c until |z| > 2, at most ``limit``, summed over its points."""
    y, x = np.linspace(-1.25, 1.25, rows), np.linspace(-2.0, 0.5, columns)
    c = x[None, :] + 1j * y[:, None]
    z, steps = np.zeros_like(c), np.zeros(c.shape, dtype=np.int64)
    for _ in range(limit):
        inside = np.abs(z) <= 2
        z[inside] = z[inside] ** 2 + c[inside]
        steps += inside
    found: list[int] = steps.sum(axis=1).tolist()
    return found


def by_blocks(rows: int, workers: int) -> Assigned:
    """Static, block-wise: worker 0 gets the first rows, worker 1 the next ones, and so on."""
    return [part.tolist() for part in np.array_split(np.arange(rows), workers)]


def by_turns(rows: int, workers: int) -> Assigned:
    """Static, cyclic: worker w gets the rows w, w + K, w + 2K, ... of K workers."""
    return [list(range(worker, rows, workers)) for worker in range(workers)]


def dynamic(costs: Sequence[float], workers: int, next_worker: NextWorker) -> Assigned:
    """Dynamic: each row in turn goes to the worker that ``next_worker`` chooses, without knowing the cost of the
    row."""
    done, assigned = [0.0] * workers, Assigned([] for _ in range(workers))
    for row, cost in enumerate(costs):
        worker = next_worker(list(done))
        assigned[worker].append(row)
        done[worker] += cost
    return assigned


def first_free(done: list[float]) -> int:
    """The worker that is done first; the lowest number among several."""
    return done.index(min(done))


def loads(costs: Sequence[float], assigned: Assigned) -> list[float]:
    """The total cost of each worker's rows."""
    return [sum(costs[row] for row in rows) for rows in assigned]


def longest(costs: Sequence[float], assigned: Assigned) -> float:
    """The makespan: the total cost of the busiest worker."""
    return max(loads(costs, assigned))


def dynamic_assignment(rows: int, pool: Any) -> list[Any]:
    """The pixels of all rows, in order, computed by a ``lockstep.classical.pool.Pool`` with dynamic assignment.

    An idle worker gets the next row; so none is idle while a row is left."""
    pixels: list[Any] = [None] * rows
    idle, started, done = list(range(pool.workers)), 0, 0
    while done < rows:
        while idle and started < rows:
            pool.start(idle.pop(), started)
            started += 1
        worker, row, pixels[row] = pool.wait()
        idle.append(worker)
        done += 1
    return pixels
