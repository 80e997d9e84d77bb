"""From the log of births and deaths of a run's storages to the peaks of its memory.

The total and each kind have peaks of their own, at times of their own: the sum of the kinds' peaks may exceed the peak
of the total, while the kinds at the time of the total's peak add up to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from lockstep.events import MEMORY_KINDS, Memory

OTHER, ACTIVATION, GRADIENT, OPTIMIZER, PARAMETER, BUFFER = range(6)  # a storage may rise in this order, never sink
COLUMN = [MEMORY_KINDS.index(name) for name in (
    "buffers", "activations", "gradients", "optimizer state", "parameters", "buffers",
)]  # fmt: skip
SAMPLES = 768  # of a run's time line of memory


def reckon(log: Sequence[float], kinds: Mapping[int, int], carried: int = 0) -> Memory:
    """``log``: number of a storage, change in bytes, seconds, and so on; ``kinds``: by number, OTHER left out.
    ``carried``: births at the log's beginning that only say what was alive before."""
    if not log:
        return Memory()
    numbers, changes, seconds = log[::3], np.array(log[1::3], dtype=np.int64), log[2::3]
    alive = np.zeros((len(changes), len(MEMORY_KINDS)), dtype=np.int64)  # (events, kinds)
    alive[np.arange(len(changes)), [COLUMN[kinds.get(int(n), OTHER)] for n in numbers]] = changes
    np.cumsum(alive, axis=0, out=alive)
    total = alive.sum(axis=1)
    chosen = [carried + i for i in extremes(total[carried:], SAMPLES)]
    return Memory(
        peak=int(total.max()),
        at_peak=by_kind(alive[total.argmax()].tolist()),
        peaks=by_kind(alive.max(axis=0).tolist()),
        samples=tuple((seconds[i], tuple(alive[i].tolist())) for i in chosen),
    )


def by_kind(nbytes: Sequence[int]) -> dict[str, int]:
    return dict(zip(MEMORY_KINDS, nbytes, strict=True))


def extremes(total: np.ndarray[tuple[int, ...], np.dtype[np.int64]], limit: int) -> list[int]:
    """At most ``limit`` places of ``total``: the highest and the lowest of each stretch, so that no peak is lost, and
    no valley of a sawtooth; and what follows the lowest, so that a valley lasts no longer than it did."""
    if len(total) <= limit:
        return list(range(len(total)))
    edges = np.linspace(0, len(total), limit // 3 + 1).astype(int)
    stretches = [(a, total[a:b]) for a, b in pairwise(edges)]
    lowest = {int(a + part.argmin()) for a, part in stretches}
    after = {i + 1 for i in lowest if i + 1 < len(total)}
    return sorted({int(a + part.argmax()) for a, part in stretches} | lowest | after)


def merged(before: Memory | None, after: Memory) -> Memory:
    """Two stretches of one run as one."""
    if before is None:
        return after
    higher = max(before, after, key=lambda m: m.peak)
    samples = before.samples + after.samples
    kept = extremes(np.array([sum(nbytes) for _, nbytes in samples]), SAMPLES)
    peaks = {kind: max(before.peaks[kind], after.peaks[kind]) for kind in MEMORY_KINDS}
    return Memory(higher.peak, higher.at_peak, peaks, tuple(samples[i] for i in kept))
