"""What a kernel does to memory, counted on small arrays: misses of a small cache, and lines that move between cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lockstep.cpu.cache import Cache
from lockstep.cpu.coherence import share
from lockstep.cpu.traced import Access, Memory
from lockstep.cpu.tracing import trace

SMALL = 2048  # bytes of the cache: 32 lines
SHAPES = ((24, 40), (40, 40))


def misses(kernel: Callable[..., Any], *more: Any, size: int = SMALL) -> int:
    """Of ``kernel(A, B, *more)``, A of 24 x 40 and B of 40 x 40, in float64: lines that the cache did not have."""
    memory, cache = Memory(), Cache(size)
    A, B = (memory.place(np.ones(shape), name) for shape, name in zip(SHAPES, "AB", strict=True))
    trace(kernel, memory, A, B, *more)
    for address, *_ in memory.accesses:
        cache.access(address)
    return cache.misses


def transfers(kernel: Callable[..., Any], numbers: int, workers: int) -> tuple[int, Sequence[Access]]:
    """How often a line moves from core to core in ``kernel(x, workers)``, and its accesses; x has ``numbers``
    elements."""
    memory = Memory(workers=workers)
    trace(kernel, memory, memory.place(np.ones(numbers), "x"), workers)
    return share(memory.accesses).total, memory.accesses


def written(accesses: Sequence[Access]) -> list[tuple[int, int]]:
    """(address, worker) of all that workers wrote, each once."""
    return sorted({(address, worker) for address, write, worker, _ in accesses if write and worker >= 0})
