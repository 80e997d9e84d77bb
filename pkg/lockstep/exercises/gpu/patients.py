"""Kernels, sick and healthy, whose counts a learner has to read. Their sizes are drawn."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numba import cuda, float32, float64

from lockstep.simt import launch

Array = Any
SIZES = ((2, 64), (3, 64), (2, 128), (4, 128), (2, 256))  # blocks and threads
LARGE, SMALL = (48, 240), (1, 32)  # healthy ones that count more than sick ones do, with a last warp of 16 lanes


def copy(a: Array, b: Array, n: int) -> None:
    i = cuda.grid(1)
    if i < n:
        b[i] = 2 * a[i] + 1


def through_a_tile(a: Array, b: Array, n: int) -> None:
    tile = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    cuda.syncthreads()
    b[i] = tile[cuda.blockDim.x - 1 - t]


def through_a_tile_of_doubles(a: Array, b: Array, n: int) -> None:
    tile = cuda.shared.array(256, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    cuda.syncthreads()
    b[i] = tile[cuda.blockDim.x - 1 - t]


def sum_of_warps(a: Array, b: Array, n: int) -> None:
    value = a[cuda.grid(1)]
    for turn in range(5):
        value += cuda.shfl_xor_sync(0xFFFFFFFF, value, 1 << turn)
    if cuda.laneid == 0:
        cuda.atomic.add(b, 0, value)


def one_lane_works_on(a: Array, b: Array, n: int) -> None:
    i = cuda.grid(1)
    total = a[i]
    if i % 16 == 0:
        for turn in range(16 + n // 8):
            total = total * 1.5 + turn
    b[i] = total


def ragged_loops(a: Array, b: Array, n: int) -> None:
    i = cuda.grid(1)
    total = 0.0
    for turn in range((i * i) % 64 // (1 + i % 7)):
        total += turn
    b[i] = total


def strided(a: Array, b: Array, n: int) -> None:
    i = cuda.grid(1)
    b[i] = a[i * 8] + 1


def pieces(a: Array, b: Array, n: int) -> None:
    first = cuda.grid(1) * 12
    for i in range(first, first + 12):
        a[i] = a[i] * 2


def one_bank(a: Array, b: Array, n: int) -> None:
    tile = cuda.shared.array(4096, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t * 16] = a[i]
    cuda.syncthreads()
    b[i] = tile[t * 16]


def one_counter(a: Array, b: Array, n: int) -> None:
    cuda.atomic.add(b, 0, a[cuda.grid(1)])


def no_barrier(a: Array, b: Array, n: int) -> None:
    tile = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    b[i] = tile[cuda.blockDim.x - 1 - t]


ILLNESSES: dict[str, Sequence[tuple[Callable[..., None], str]]] = {
    "healthy": (
        (copy, "float32"), (copy, "float64"), (through_a_tile, "float32"), (through_a_tile_of_doubles, "float64"),
        (sum_of_warps, "float32"),
    ),
    "divergence": ((one_lane_works_on, "float32"), (ragged_loops, "float32")),
    "uncoalesced": ((strided, "float32"), (pieces, "float32"), (pieces, "float64")),
    "bank conflicts": ((one_bank, "float32"),),
    "serial atomics": ((one_counter, "float32"),),
    "race": ((no_barrier, "float32"),),
}  # fmt: skip


@cache
def counts(illness: str, seed: int) -> list[dict[str, int]]:
    """What ``launch(...).counts()`` says of kernels with that illness: each of an extreme size, and of three others."""
    draw, found = random.Random(seed), []
    extreme = LARGE if illness == "healthy" else SMALL
    for (kernel, dtype), (blocks, threads) in product(ILLNESSES[illness], (extreme, *draw.sample(SIZES, 3))):
        n = blocks * threads
        a, b = np.ones(12 * n, dtype), np.ones(n, dtype)
        found.append(launch(kernel, blocks, threads, a, b, n - draw.randint(1, 20)).counts())
    return found
