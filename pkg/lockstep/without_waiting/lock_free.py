"""HOGWILD! with Python's threads and one NumPy array: SGD on shared parameters without a lock.

``hogwild`` has the same, compiled. Source: Niu, Recht, Ré and Wright, "HOGWILD!", NIPS 2011, arXiv:1106.5730, Algorithm
1.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Gradient = Callable[[int, Floats], Floats]


def delete_the_lock(gradient: Gradient, coordinates: Sequence[Ints], w: Floats, rate: float, threads: int) -> None:
    """SGD on one shared ``w``, changed in place by ``threads`` threads at once. Thread t takes the examples t,
    t + threads, … Example i reads ``w`` at ``coordinates[i]`` and nowhere else, and so it writes.

    ``gradient(i, values)`` is example i's gradient at its coordinates, where ``w`` holds ``values``. What other threads
    write meanwhile is in ``w`` and not in ``values``: the update is taken from ``w``.
    """

    def train(t: int) -> None:
        for i in range(t, len(coordinates), threads):
            c = coordinates[i]
            g = gradient(i, w[c])
            w[c] -= rate * g

    run_together(train, threads)


def one_lock(gradient: Gradient, coordinates: Sequence[Ints], w: Floats, rate: float, threads: int) -> None:
    """The program that learners are given to mend: one thread at a time, and each step writes the whole of ``w``."""
    lock = threading.Lock()

    def train(t: int) -> None:
        for i in range(t, len(coordinates), threads):
            with lock:
                full = np.zeros(len(w))
                full[coordinates[i]] = gradient(i, w[coordinates[i]])
                w[:] -= rate * full

    run_together(train, threads)


def run_together(train: Callable[[int], None], threads: int) -> None:
    """Run ``train(t)`` for t = 0 to threads - 1, each on a thread of its own, and join them all."""
    workers = [threading.Thread(target=train, args=(t,)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
