"""The memory timeline of a run, from the log of its allocations: peaks by kind, and samples for a figure.

The total and each kind peak at different times: the sum of the kinds' peaks may exceed the peak of the total, while the
kinds at the time of the total's peak add up to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from lockstep.events import MEMORY_KINDS, Memory

OTHER, ACTIVATION, GRADIENT, OPTIMIZER, PARAMETER, BUFFER = range(6)  # a storage's kind may only increase
COLUMN = [MEMORY_KINDS.index(name) for name in (
    "buffers", "activations", "gradients", "optimizer state", "parameters", "buffers",
)]  # fmt: skip
SAMPLES = 768  # in a run's timeline


def reckon(log: Sequence[float], kinds: Mapping[int, int], carried: int = 0) -> Memory:
    """The Memory of a log. ``log``: the number of a storage, its change in bytes, seconds, and so on; ``kinds``: by
    number, without OTHER. ``carried``: entries at the beginning for storages that were alive before."""
    if not log:
        return Memory()
    seconds, alive = log[2::3], bytes_alive(log, kinds)
    total = alive.sum(axis=1)
    chosen = [carried + i for i in extremes(total[carried:], SAMPLES)]
    return Memory(
        peak=int(total.max()),
        at_peak=by_kind(alive[total.argmax()].tolist()),
        peaks=by_kind(alive.max(axis=0).tolist()),
        samples=tuple((seconds[i], tuple(alive[i].tolist())) for i in chosen),
    )


def bytes_alive(log: Sequence[float], kinds: Mapping[int, int]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """The bytes alive after each entry of a log, by kind: (entries, kinds)."""
    numbers, changes = log[::3], np.array(log[1::3], dtype=np.int64)
    alive = np.zeros((len(changes), len(MEMORY_KINDS)), dtype=np.int64)
    alive[np.arange(len(changes)), [COLUMN[kinds.get(int(n), OTHER)] for n in numbers]] = changes
    return np.cumsum(alive, axis=0, out=alive)


def by_kind(nbytes: Sequence[int]) -> dict[str, int]:
    return dict(zip(MEMORY_KINDS, nbytes, strict=True))


def extremes(total: np.ndarray[tuple[int, ...], np.dtype[np.int64]], limit: int) -> list[int]:
    """At most ``limit`` indices of ``total``: the maximum and the minimum of each interval, so that peaks and valleys
    are kept, and the successor of each minimum, so that valleys keep their length."""
    if len(total) <= limit:
        return list(range(len(total)))
    edges = np.linspace(0, len(total), limit // 3 + 1).astype(int)
    stretches = [(a, total[a:b]) for a, b in pairwise(edges)]
    lowest = {int(a + part.argmin()) for a, part in stretches}
    after = {i + 1 for i in lowest if i + 1 < len(total)}
    return sorted({int(a + part.argmax()) for a, part in stretches} | lowest | after)


def merged(before: Memory | None, after: Memory) -> Memory:
    """The Memory of two consecutive parts of a run."""
    if before is None:
        return after
    higher = max(before, after, key=lambda m: m.peak)
    samples = before.samples + after.samples
    kept = extremes(np.array([sum(nbytes) for _, nbytes in samples]), SAMPLES)
    peaks = {kind: max(before.peaks[kind], after.peaks[kind]) for kind in MEMORY_KINDS}
    return Memory(higher.peak, higher.at_peak, peaks, tuple(samples[i] for i in kept))
