# mypy: disable-error-code="untyped-decorator"
"""HOGWILD!: threads train one w in one memory, and nobody locks anything.

    each thread, for each of its examples i:            c: the coordinates that example i uses
        g = gradient of example i, computed from w[c]
        for v in c:  w[v] -= rate * g[v]                nobody waits

Two threads that write the same coordinate at the same time may lose an update. On sparse data that is rare, and SGD is
noisy anyway (Niu, Recht, Ré and Wright, "HOGWILD!: A Lock-Free Approach to Parallelizing Stochastic Gradient
Descent", NIPS 2011, arXiv:1106.5730, Algorithm 1). In the paper each component is updated atomically, as in ``atomic``;
``racy`` does without even that, and ``locked`` is what HOGWILD! did away with.

The examples are *sparse*: each uses a few coordinates of w. How many examples use the same coordinate decides how much
HOGWILD! gains. Three kinds of data sets for logistic regression are drawn from a seed: ``uniform``, where all
coordinates are used equally often; ``skewed``, where a few are used by most examples, as words are in texts; ``dense``,
where each example uses all of them.

Times are the threads' own processor times (``cpu.threads``), so that other programs hardly affect them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from statistics import median
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from lockstep.cpu.threads import pointer, thread_seconds
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.without_waiting.lock_free import Floats, Ints

Kernel = Callable[..., None]

EXAMPLES, COORDINATES, USED = 10_000, 100_000, 20  # of the data sets of this unit; USED: of an example, at most
DENSE = 32  # coordinates, where every example uses all

RATES: Mapping[str, float] = {"uniform": 2.0, "skewed": 0.5, "dense": 0.1}  # by data set
EPOCHS = 4
REPEATS = 5  # of a time
PASSES = 8  # epochs in one go, where they are timed: long enough for threads to run at the same time


# ---- sparse examples


@dataclass(frozen=True)
class Examples:
    """Sparse examples in compressed sparse rows: example i uses ``coordinates[begins[i]:begins[i + 1]]``, none of them
    twice, with the ``values`` at the same positions. ``labels``: 0.0 or 1.0 for each. ``size``: the length of w."""

    begins: Ints
    coordinates: Ints
    values: Floats
    labels: Floats
    size: int

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def arrays(self) -> tuple[Ints, Ints, Floats, Floats]:
        """The arrays that a compiled kernel takes."""
        return self.begins, self.coordinates, self.values, self.labels


def uniform(examples: int = EXAMPLES, size: int = COORDINATES, used: int = USED, seed: int = 0) -> Examples:
    """Examples of ``used`` coordinates each, or slightly fewer: all coordinates are drawn with equal probability, and
    one that is drawn twice counts once."""
    return _drawn(np.random.default_rng(seed).integers(0, size, (examples, used)), size, seed)


def skewed(examples: int = EXAMPLES, size: int = COORDINATES, used: int = USED, seed: int = 0) -> Examples:
    """Examples whose coordinate v is drawn with a probability of about 1/(v + 1) (Zipf's law): most examples use the
    first few, and most coordinates are rare."""
    drawn = (size + 1) ** np.random.default_rng(seed).random((examples, used)) - 1
    return _drawn(np.minimum(drawn.astype(np.int64), size - 1), size, seed)


def dense(examples: int = EXAMPLES, size: int = DENSE, seed: int = 0) -> Examples:
    """Examples that use every coordinate."""
    return _drawn(np.tile(np.arange(size), (examples, 1)), size, seed)


@cache
def data_sets(examples: int = EXAMPLES, seed: int = 0) -> Mapping[str, Examples]:
    """All three data sets, by name: the same in every call."""
    return {kind.__name__: kind(examples, seed=seed) for kind in (uniform, skewed, dense)}


def _drawn(drawn: Ints, size: int, seed: int) -> Examples:
    """Values and labels for these coordinates, (examples, used). Labels are drawn by a logistic model, so no w can be
    right about all of them."""
    dice = np.random.default_rng([seed, 1])
    places = np.unique(np.arange(len(drawn))[:, None] * size + drawn)  # sorted by example, none twice
    owner, coordinates = np.divmod(places, size)
    begins = np.searchsorted(owner, np.arange(len(drawn) + 1))
    values = dice.standard_normal(len(places)) / np.sqrt(drawn.shape[1])
    scores = np.add.reduceat(values * (4 * dice.standard_normal(size))[coordinates], begins[:-1])
    labels = (dice.random(len(drawn)) < 1 / (1 + np.exp(-scores))).astype(np.float64)
    return Examples(begins, coordinates, values, labels, size)


# ---- the kernels


@njit(nogil=True)
def slope(i: Any, begins: Any, coordinates: Any, values: Any, labels: Any, w: Any) -> Any:
    """The derivative of example i's logistic loss by its score, which is prediction minus label: the gradient is this
    times the example's values."""
    score = 0.0
    for k in range(begins[i], begins[i + 1]):
        score += values[k] * w[coordinates[k]]
    return 1 / (1 + np.exp(-score)) - labels[i]


@njit(nogil=True)
def racy(order: Any, rate: Any, lock: Any, begins: Any, coordinates: Any, values: Any, labels: Any, w: Any) -> None:
    """A step of SGD for each example in ``order``, without any lock. An update is a load, a subtraction and a store:
    another thread may come between."""
    for i in order:
        pull = rate * slope(i, begins, coordinates, values, labels, w)
        for k in range(begins[i], begins[i + 1]):
            w[coordinates[k]] -= pull * values[k]


@njit(nogil=True)
def atomic(order: Any, rate: Any, lock: Any, begins: Any, coordinates: Any, values: Any, labels: Any, w: Any) -> None:
    """The same with atomic updates: none is lost, since nothing comes between a load and its store."""
    for i in order:
        pull = rate * slope(i, begins, coordinates, values, labels, w)
        for k in range(begins[i], begins[i + 1]):
            add(w, coordinates[k], -pull * values[k])


@njit(nogil=True)
def locked(order: Any, rate: Any, lock: Any, begins: Any, coordinates: Any, values: Any, labels: Any, w: Any) -> None:
    """The same with one lock for all threads: each step sees all the steps before it."""
    for i in order:
        while exchange(lock, 1):
            pass
        pull = rate * slope(i, begins, coordinates, values, labels, w)
        for k in range(begins[i], begins[i + 1]):
            w[coordinates[k]] -= pull * values[k]
        exchange(lock, 0)


@intrinsic
def add(_: Any, array: Any, index: Any, value: Any) -> Any:
    """Atomic ``array[index] += value``, which numba has for GPUs only."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        place = pointer(context, builder, signature.args[0], values[0], values[1])
        builder.atomic_rmw("fadd", place, values[2], "monotonic")
        return context.get_dummy_value()

    return types.void(array, types.intp, types.float64), code


@intrinsic
def exchange(_: Any, lock: Any, value: Any) -> Any:
    """Atomically write ``value`` into ``lock[0]`` and return what was there, with a full memory barrier: writing 1
    takes the lock if it returns 0; writing 0 releases it."""

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
    """One epoch of SGD by ``threads`` threads that start together and change ``w`` in place, one step for each example
    in ``order``. Thread t takes order[t], order[t + threads], … Returns each thread's processor seconds."""
    lock = np.zeros(64, np.int64)  # alone on its cache lines
    parts = [order[t::threads].copy() for t in range(threads)]
    return thread_seconds([partial(kernel, part, rate, lock, *examples.arrays, w) for part in parts])


def losses(
    examples: Examples, rate: float, threads: int = 1, kernel: Kernel = racy, epochs: int = EPOCHS, seed: int = 0
) -> list[float]:
    """The loss before the first epoch and after each of them, starting from w = 0. Every epoch has an order of examples
    of its own, the same for all numbers of threads and all kernels."""
    dice, w = np.random.default_rng(seed), np.zeros(examples.size)
    found = [loss(examples, w)]
    for _ in range(epochs):
        epoch(examples, w, dice.permutation(len(examples)), rate, threads, kernel)
        found.append(loss(examples, w))
    return found


def seconds(
    examples: Examples, rate: float, threads: int, repeats: int = REPEATS, seed: int = 0
) -> dict[str, list[float]]:
    """Processor seconds of an epoch, ``repeats`` measurements of each way, in turn: "serial" is ``racy`` on one thread,
    the others are the kernels on ``threads`` threads. "at once": how many of the racy threads ran at the same time, on
    average; where other programs occupy the cores, threads take turns, and a lock costs little. Each way has a w of its
    own."""
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
    """Compile all that is timed here, which takes some seconds once in a session, and show progress."""
    tiny = dense(2, 2)
    for kernel in counted(KERNELS.values(), "Compiling", each=1.5):
        epoch(tiny, np.zeros(2), np.arange(2), 0.0, 1, kernel)
    loss(tiny, np.zeros(2))


def speed_table(threads: int = 2, sets: Mapping[str, Examples] | None = None, repeats: int = REPEATS) -> Table:
    """The speed-up of ``threads`` threads over one, racy, atomic and locked, on each data set: medians of ``repeats``
    epochs each, measured in turn."""
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
    """The loss after each epoch on each data set, with one thread, with ``threads`` racing threads, and with
    ``threads`` threads and a lock."""
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
