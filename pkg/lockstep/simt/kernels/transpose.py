"""A matrix transposition, naive and through shared memory.

A warp is a row of 32 threads. The naive kernel reads 32 neighbours and writes 32 elements that lie a whole row apart.
The tile in shared memory is filled by rows and read by columns, so that both accesses of global memory are along rows.
Its 33rd column is padding: it shifts each row by one bank, so that a column lies in 32 different banks.
"""

from __future__ import annotations

from typing import Any

from numba import cuda, float32

Array = Any
TILE = 32  # a block has TILE x TILE threads
PADDED = TILE + 1  # named here: as the size of an array, numba takes names and no arithmetic


def naive_transpose(source: Array, target: Array) -> None:
    """``target[x, y] = source[y, x]``; source is (rows, columns), target (columns, rows)."""
    x, y = cuda.grid(2)
    if y < source.shape[0] and x < source.shape[1]:
        target[x, y] = source[y, x]


def transpose(source: Array, target: Array) -> None:
    """The same through a padded tile. Every thread comes to the barrier, whether its element exists or not."""
    tile = cuda.shared.array((TILE, PADDED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    if y < source.shape[0] and x < source.shape[1]:
        tile[ty, tx] = source[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * TILE + tx  # the tile's place in the target: block indices exchanged
    y = cuda.blockIdx.x * TILE + ty
    if y < target.shape[0] and x < target.shape[1]:
        target[y, x] = tile[tx, ty]
