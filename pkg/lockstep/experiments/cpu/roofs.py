# mypy: disable-error-code="untyped-decorator"
"""The roofs of one core of this machine, measured: its peak FLOP/s and the bandwidth of each level of memory.

    peak        multiply-adds in registers, with enough independent ones
    bandwidth   the STREAM triad, a = b + s·c (McCalpin 1995), on arrays that fit into a cache, and on some that do not

Both run on one thread, timed by its own clock, the best of several: other programs disturb it little. But the clock of
a busy chip may be lower, and a shared cache is still shared with other cores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from lockstep.machines import Device
from lockstep.tally import counted
from lockstep.this_machine import host
from lockstep.this_machine.measure import best_time

STEPS = 24  # multiply-adds per element loaded
FAR = 32 * 2**20  # bytes of each array in main memory


@njit(fastmath={"contract"}, nogil=True)
def multiply_adds(x: Any, a: Any, b: Any, turns: int) -> None:
    """x = a·x + b, STEPS times per load and store; all of it ``turns`` times."""
    for _ in range(turns):
        for i in range(x.size):
            v = x[i]
            for _ in range(STEPS):
                v = v * a + b
            x[i] = v


@njit(fastmath={"contract"})
def triad(a: Any, b: Any, c: Any, s: Any, turns: int) -> None:
    """a = b + s·c, ``turns`` times over the same arrays."""
    for _ in range(turns):
        for i in range(a.size):
            a[i] = b[i] + s * c[i]


@njit(nogil=True)
def repeat(kernel: Any, x: Any, y: Any, turns: int) -> float:
    """Call ``kernel(x, y)`` ``turns`` times, to make the overhead of a call from Python negligible.

    ``x`` is written in between (the same value), so that the compiler cannot remove any call.
    """
    total = 0.0
    for _ in range(turns):
        total += kernel(x, y)
        x[0] += np.float32(0.0 * total)
    return total


def ns_per_element(kernel: Any, x: Any, y: Any, seconds: float = 0.1, turns: int = 200) -> float:
    """Nanoseconds per element of ``x`` of ``kernel(x, y)``, a compiled function of two arrays that returns a number.
    The best of several, by the clock of this thread."""
    best = best_time(lambda: repeat(kernel, x, y, turns), seconds)
    return 1e9 * best / turns / int(x.size)


@dataclass(frozen=True)
class Roofs:
    """``peak``: FLOP/s in float32; ``bandwidths``: level of memory → bytes/s, the fastest first."""

    peak: float
    bandwidths: dict[str, float]

    @property
    def device(self) -> Device:
        """One core as a device, with the lowest bandwidth measured."""
        slowest = min(self.bandwidths.values())
        return Device(
            "one core",
            {"float32": self.peak},
            slowest,
            host.memory(),
            0.0,
            "Measured by lockstep.experiments.cpu.roofs.",
        )


def measure_roofs(seconds: float = 0.2) -> Roofs:
    """Measure the peak and the bandwidth of L1, L2 (as far as the system reports them) and main memory, for about
    ``seconds`` each."""
    near = {name: size for name, size in host.caches().items() if name in ("L1d", "L2")}
    places = {name.rstrip("d"): size // 2 // 3 for name, size in (near or {"L1d": 32 * 1024}).items()}
    places["memory"] = min(FAR, host.memory() // 64)
    peak, levels = _peak(seconds), counted(places.items(), "Measuring the bandwidth of each level")
    return Roofs(peak, {place: _bandwidth(size, seconds) for place, size in levels})


def _peak(seconds: float) -> float:
    x = np.ones(2048, np.float32)
    a, b = np.float32(0.5), np.float32(0.5)
    turns = 200
    return x.size * 2 * STEPS * turns / best_time(lambda: multiply_adds(x, a, b, turns), seconds)


def _bandwidth(nbytes: int, seconds: float) -> float:
    """Bytes/s of a triad on three arrays of ``nbytes`` each: two reads and one write, as in the program."""
    a, b, c = (np.ones(nbytes // 4, np.float32) for _ in range(3))
    turns = max(1, 200_000 // a.size)
    return 3 * a.nbytes * turns / best_time(lambda: triad(a, b, c, np.float32(3), turns), seconds)


def kernel_time(call: Callable[[], object], seconds: float = 0.2, calls: int = 200) -> float:
    """Seconds of one ``call`` that is too short to be timed alone."""
    call()

    def many() -> None:
        for _ in range(calls):
            call()

    return best_time(many, seconds) / calls
