"""Kernels, sick and healthy, whose counts a learner has to read. Each is a factory: the size is drawn from the seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

Kernel = Callable[..., None]
Patient = tuple[str, Kernel, tuple[int, ...], tuple[Any, ...]]  # illness, kernel, (blocks, threads), arguments


def patients(seed: int) -> list[Patient]:
    """All of them, in a drawn order, with drawn sizes."""
    draw = random.Random(seed)
    chosen = [make(draw) for make in (*_HEALTHY, *_SICK) for _ in range(2)]
    draw.shuffle(chosen)
    return chosen


def _grid(draw: random.Random) -> tuple[int, int]:
    return draw.choice((2, 3, 4)), draw.choice((64, 128, 256))


def _numbers(n: int, dtype: str = "float32") -> Any:
    import numpy as np

    return np.ones(n, dtype)


def _copy(draw: random.Random) -> Patient:
    """Healthy; the last block is not full."""
    from numba import cuda

    blocks, threads = _grid(draw)
    n = blocks * threads - draw.randint(1, 20)

    def kernel(a: Any, b: Any) -> None:
        i = cuda.grid(1)
        if i < a.size:
            b[i] = 2 * a[i] + 1

    return "healthy", kernel, (blocks, threads), (_numbers(n), _numbers(n))


def _doubles(draw: random.Random) -> Patient:
    """Healthy: 8 sectors a request, because float64 needs 8."""
    from numba import cuda

    blocks, threads = _grid(draw)

    def kernel(a: Any, b: Any) -> None:
        i = cuda.grid(1)
        b[i] = a[i] * a[i]

    n = blocks * threads
    return "healthy", kernel, (blocks, threads), (_numbers(n, "float64"), _numbers(n, "float64"))


def _tile(draw: random.Random) -> Patient:
    """Healthy: through shared memory without a conflict."""
    from numba import cuda, float32

    blocks, threads = _grid(draw)

    def kernel(a: Any, b: Any) -> None:
        tile = cuda.shared.array(256, float32)
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        tile[t] = a[i]
        cuda.syncthreads()
        b[i] = tile[cuda.blockDim.x - 1 - t]

    n = blocks * threads
    return "healthy", kernel, (blocks, threads), (_numbers(n), _numbers(n))


def _parted(draw: random.Random) -> Patient:
    """Divergence: one lane in so many works on, the others wait."""
    from numba import cuda

    blocks, threads = _grid(draw)
    every, turns = draw.choice((8, 16, 32)), draw.randint(20, 40)

    def kernel(a: Any, b: Any) -> None:
        i = cuda.grid(1)
        total = a[i]
        if i % every == 0:
            for turn in range(turns):
                total = total * 1.5 + turn
        b[i] = total

    n = blocks * threads
    return "divergence", kernel, (blocks, threads), (_numbers(n), _numbers(n))


def _ragged(draw: random.Random) -> Patient:
    """Divergence: loops of different lengths in one warp."""
    from numba import cuda

    blocks, threads = _grid(draw)
    most = draw.choice((32, 64))

    def kernel(a: Any, b: Any) -> None:
        i = cuda.grid(1)
        total = 0.0
        for turn in range((i * i) % most // (1 + i % 7)):
            total += turn
        b[i] = total

    n = blocks * threads
    return "divergence", kernel, (blocks, threads), (_numbers(n), _numbers(n))


def _strided(draw: random.Random) -> Patient:
    """Uncoalesced: a field of a record, or a column."""
    from numba import cuda

    blocks, threads = _grid(draw)
    stride = draw.choice((6, 8, 16))

    def kernel(a: Any, b: Any) -> None:
        i = cuda.grid(1)
        b[i] = a[i * stride] + 1

    n = blocks * threads
    return "uncoalesced", kernel, (blocks, threads), (_numbers(n * stride), _numbers(n))


def _chunks(draw: random.Random) -> Patient:
    """Uncoalesced: every thread walks through a piece of its own."""
    from numba import cuda

    blocks, threads = _grid(draw)
    piece = draw.choice((8, 12))

    def kernel(a: Any) -> None:
        first = cuda.grid(1) * piece
        for i in range(first, first + piece):
            a[i] = a[i] * 2

    return "uncoalesced", kernel, (blocks, threads), (_numbers(blocks * threads * piece),)


def _banks(draw: random.Random) -> Patient:
    """Bank conflicts: a stride through shared memory that the banks do not like."""
    from numba import cuda, float32

    blocks, stride = draw.choice((2, 3, 4)), draw.choice((8, 16, 32))

    def kernel(a: Any, b: Any) -> None:
        tile = cuda.shared.array(2048, float32)
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        tile[t * stride] = a[i]
        cuda.syncthreads()
        b[i] = tile[t * stride]

    return "bank conflicts", kernel, (blocks, 64), (_numbers(64 * blocks), _numbers(64 * blocks))


def _one_counter(draw: random.Random) -> Patient:
    """Serial atomics: everybody adds to one address."""
    from numba import cuda

    blocks, threads = _grid(draw)

    def kernel(a: Any, out: Any) -> None:
        i = cuda.grid(1)
        cuda.atomic.add(out, 0, a[i])

    return "serial atomics", kernel, (blocks, threads), (_numbers(blocks * threads), _numbers(1))


def _no_barrier(draw: random.Random) -> Patient:
    """Race: another warp's word is read at once."""
    from numba import cuda, float32

    blocks, threads = draw.choice((2, 3, 4)), draw.choice((128, 256))

    def kernel(a: Any, b: Any) -> None:
        tile = cuda.shared.array(256, float32)
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        tile[t] = a[i]
        b[i] = tile[cuda.blockDim.x - 1 - t]

    n = blocks * threads
    return "race", kernel, (blocks, threads), (_numbers(n), _numbers(n))


_HEALTHY = (_copy, _doubles, _tile)
_SICK = (_parted, _ragged, _strided, _chunks, _banks, _one_counter, _no_barrier)
