# mypy: disable-error-code="untyped-decorator"
"""HOGWILD!: threads train one w in one memory, and nobody locks anything.

    each thread, for each of its examples i:            c: the coordinates that example i uses
        g = gradient of example i, computed from w[c]
        for v in c:  w[v] -= rate * g[v]                nobody waits

Two threads that write the same coordinate at the same time may lose an update. On sparse data they seldom meet, and SGD
is noisy anyhow (Niu, Recht, Ré and Wright, "HOGWILD!: A Lock-Free Approach to Parallelizing Stochastic Gradient
Descent", NIPS 2011, arXiv:1106.5730, Algorithm 1). The paper has each component added to atomically; ``racy`` does not
even that, ``atomic`` does, and ``locked`` is what HOGWILD! did away with.

Times are the threads' own processor times (``cpu.threads``), so that other programs hardly count.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from lockstep.cpu.threads import pointer, thread_seconds
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.without_waiting.sparse import Examples, Floats, Ints, data_sets, dense

Kernel = Callable[..., None]

RATES: Mapping[str, float] = {"uniform": 2.0, "skewed": 0.5, "dense": 0.1}  # by data set
EPOCHS = 4
REPEATS = 5  # of a time
PASSES = 8  # epochs in one go, where they are timed: long enough for threads to run side by side


@njit(nogil=True)
def slope(i: Any, begins: Any, coordinates: Any, values: Any, labels: Any, w: Any) -> Any:
    """What the prediction of example i is off: its gradient is this times its values."""
    score = 0.0
    for k in range(begins[i], begins[i + 1]):
        score += values[k] * w[coordinates[k]]
    return 1 / (1 + np.exp(-score)) - labels[i]


@njit(nogil=True)
def racy(order: Any, rate: Any, lock: Any, begins: Any, coordinates: Any, values: Any, labels: Any, w: Any) -> None:
    """Steps of SGD for the examples in ``order``. An update is a load, a subtraction and a store: another thread may
    come between."""
    for i in order:
        pull = rate * slope(i, begins, coordinates, values, labels, w)
        for k in range(begins[i], begins[i + 1]):
            w[coordinates[k]] -= pull * values[k]


@njit(nogil=True)
def atomic(order: Any, rate: Any, lock: Any, begins: Any, coordinates: Any, values: Any, labels: Any, w: Any) -> None:
    """The same; no update is lost, since nothing comes between its load and its store."""
    for i in order:
        pull = rate * slope(i, begins, coordinates, values, labels, w)
        for k in range(begins[i], begins[i + 1]):
            add(w, coordinates[k], -pull * values[k])


@njit(nogil=True)
def locked(order: Any, rate: Any, lock: Any, begins: Any, coordinates: Any, values: Any, labels: Any, w: Any) -> None:
    """The same, one thread at a time: each step of one sees all the steps before."""
    for i in order:
        while exchange(lock, 1):
            pass
        pull = rate * slope(i, begins, coordinates, values, labels, w)
        for k in range(begins[i], begins[i + 1]):
            w[coordinates[k]] -= pull * values[k]
        exchange(lock, 0)


@intrinsic
def add(_: Any, array: Any, index: Any, value: Any) -> Any:
    """``array[index] += value`` in one piece: numba has none for CPUs."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        place = pointer(context, builder, signature.args[0], values[0], values[1])
        builder.atomic_rmw("fadd", place, values[2], "monotonic")
        return context.get_dummy_value()

    return types.void(array, types.intp, types.float64), code


@intrinsic
def exchange(_: Any, lock: Any, value: Any) -> Any:
    """Write ``value`` into ``lock[0]`` and return what was there, in one piece: 1 takes the lock if 0 comes back, 0
    gives it back. What a thread does in between stays in between."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        first = context.get_constant(types.intp, 0)
        place = pointer(context, builder, signature.args[0], values[0], first)
        return builder.atomic_rmw("xchg", place, values[1], "seq_cst")

    return types.int64(lock, types.int64), code


@njit
def mean_loss(begins: Any, coordinates: Any, values: Any, labels: Any, w: Any) -> Any:
    """The mean logistic loss, log(1 + exp(score)) - label · score."""
    total = 0.0
    for i in range(labels.size):
        score = 0.0
        for k in range(begins[i], begins[i + 1]):
            score += values[k] * w[coordinates[k]]
        total += np.logaddexp(0.0, score) - labels[i] * score
    return total / labels.size


KERNELS: Mapping[str, Kernel] = {"racy": racy, "atomic": atomic, "locked": locked}


def loss(examples: Examples, w: Floats) -> float:
    """The mean logistic loss of ``w`` over all examples: log 2 = 0.6931 where w is zero."""
    return float(mean_loss(*examples.arrays, w))


def epoch(
    examples: Examples, w: Floats, order: Ints, rate: float, threads: int = 1, kernel: Kernel = racy
) -> list[float]:
    """One step of SGD for each example in ``order``, by ``threads`` threads that begin together and change ``w`` in
    place. Thread t takes order[t], order[t + threads], … The processor seconds of each."""
    lock = np.zeros(64, np.int64)  # alone on its cache lines
    parts = [order[t::threads].copy() for t in range(threads)]
    return thread_seconds([partial(kernel, part, rate, lock, *examples.arrays, w) for part in parts])


def losses(
    examples: Examples, rate: float, threads: int = 1, kernel: Kernel = racy, epochs: int = EPOCHS, seed: int = 0
) -> list[float]:
    """The loss before the first epoch and after each of them, from w = 0. Each epoch takes the examples in an order of
    its own, the same for each number of threads and each kernel."""
    dice, w = np.random.default_rng(seed), np.zeros(examples.size)
    found = [loss(examples, w)]
    for _ in range(epochs):
        epoch(examples, w, dice.permutation(len(examples)), rate, threads, kernel)
        found.append(loss(examples, w))
    return found


def seconds(
    examples: Examples, rate: float, threads: int, repeats: int = REPEATS, seed: int = 0
) -> dict[str, list[float]]:
    """Processor seconds of an epoch, ``repeats`` of each way, in turn: "serial" is ``racy`` on one thread, the others
    are the kernels on ``threads`` threads. "at once": how many of the racy threads ran side by side, on average; where
    other programs have the cores, threads take turns, and a lock costs little. Each way goes on from a w of its own."""
    ways = {"serial": (1, racy)} | {name: (threads, kernel) for name, kernel in KERNELS.items()}
    order = np.tile(np.random.default_rng(seed).permutation(len(examples)), PASSES)
    trained = {name: np.zeros(examples.size) for name in ways}
    found: dict[str, list[float]] = {name: [] for name in (*ways, "at once")}
    for turn in range(1 + repeats):  # the first one warms the caches
        for name, (count, kernel) in ways.items():
            begin = time.perf_counter()
            each = epoch(examples, trained[name], order, rate, count, kernel)
            if turn:
                found[name].append(max(each) / PASSES)
                found["at once"] += [sum(each) / (time.perf_counter() - begin)] if name == "racy" else []
    return found


def compile_kernels() -> None:
    """Compile all that is timed here, some seconds once in a session, and say how far it is."""
    tiny = dense(2, 2)
    for kernel in counted(KERNELS.values(), "Compiling", each=1.5):
        epoch(tiny, np.zeros(2), np.arange(2), 0.0, 1, kernel)
    loss(tiny, np.zeros(2))


def speed_table(threads: int = 2, sets: Mapping[str, Examples] | None = None, repeats: int = REPEATS) -> Table:
    """How many times as fast as one thread ``threads`` threads are, racy, atomic and locked, on each data set: medians
    of ``repeats`` epochs each, in turn."""
    compile_kernels()
    found = {name: seconds(e, RATES[name], threads, repeats) for name, e in _counted(sets, "Timing")}
    rows = [
        [name, f"{median(of['serial']) * 1e3:.1f} ms", *_times(of), f"{median(of['at once']):.1f}"]
        for name, of in found.items()
    ]
    caption = f"An epoch with {threads} threads: how many times as fast as one thread, by processor time"
    return Table(caption, ["data", "one thread", *KERNELS, "racy against locked", "threads at once"], rows)


def _times(of: Mapping[str, Sequence[float]]) -> list[str]:
    gained = [median(of["serial"]) / median(of[name]) for name in KERNELS]
    return [f"× {ratio:.2f}" for ratio in (*gained, median(of["locked"]) / median(of["racy"]))]


def loss_table(threads: int = 2, epochs: int = EPOCHS, sets: Mapping[str, Examples] | None = None) -> Table:
    """The loss after each epoch on each data set: one thread, ``threads`` threads that race, and ``threads`` threads
    with a lock."""
    compile_kernels()
    ways = (("1", 1, racy), (f"{threads}, racy", threads, racy), (f"{threads}, locked", threads, locked))
    rows = []
    for name, examples in _counted(sets, "Training"):
        for way, count, kernel in ways:
            found = losses(examples, RATES[name], count, kernel, epochs)
            rows.append([name, way, *(f"{after:.4f}" for after in found)])
    return Table(
        "Mean logistic loss after each epoch", ["data", "threads", "start", *map(str, range(1, epochs + 1))], rows
    )


def _counted(sets: Mapping[str, Examples] | None, doing: str) -> Any:
    return counted((data_sets() if sets is None else sets).items(), doing, each=1.5)
