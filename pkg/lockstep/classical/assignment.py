"""Who computes which row? Decided beforehand (static), or whenever somebody is free (dynamic).

The rows of an image of the Mandelbrot set need nothing of each other, and differ sixtyfold in work. What a row takes
is counted in steps of its loop, so that every number here is the same on each machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

ROWS, COLUMNS, LIMIT = 64, 96, 200

Assigned = list[list[int]]  # for each worker its rows, in the order in which it computes them
NextWorker = Callable[[list[float]], int]  # (when each worker is done with what it has) -> who gets the next row


def mandelbrot_rows(rows: int = ROWS, columns: int = COLUMNS, limit: int = LIMIT) -> list[int]:
    """What each row of the image takes: the steps of z → z² + c until |z| > 2, at most ``limit``, of all its points."""
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
    """Static: worker 0 gets the first rows, worker 1 the next ones, and so on."""
    return [part.tolist() for part in np.array_split(np.arange(rows), workers)]


def by_turns(rows: int, workers: int) -> Assigned:
    """Static: the rows are dealt like cards."""
    return [list(range(worker, rows, workers)) for worker in range(workers)]


def dynamic(costs: Sequence[float], workers: int, next_worker: NextWorker) -> Assigned:
    """Row after row goes to whom ``next_worker`` says. It is not told what a row will take: nobody knows."""
    done, assigned = [0.0] * workers, Assigned([] for _ in range(workers))
    for row, cost in enumerate(costs):
        worker = next_worker(list(done))
        assigned[worker].append(row)
        done[worker] += cost
    return assigned


def first_free(done: list[float]) -> int:
    """Whoever is done first; the first of several."""
    return done.index(min(done))


def loads(costs: Sequence[float], assigned: Assigned) -> list[float]:
    """How long each worker computes."""
    return [sum(costs[row] for row in rows) for rows in assigned]


def longest(costs: Sequence[float], assigned: Assigned) -> float:
    """How long all of it takes: as long as the busiest worker computes."""
    return max(loads(costs, assigned))


def dynamic_assignment(rows: int, pool: Any) -> list[Any]:
    """The pixels of all rows, in order. ``pool`` is a ``lockstep.classical.pool.Pool``.

    Whoever is idle gets the next row; so nobody idles while a row is left."""
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
