"""The sum of a vector, three ways (Harris, "Optimizing Parallel Reduction in CUDA", 2007).

Each block sums THREADS elements and adds its sum to ``out[0]``, which the caller has
set to 0. All three compute the same sum; they differ in which threads add. For 8
threads::

    divergent            sequential         shuffle, in a warp
    0 1 2 3 4 5 6 7      0 1 2 3 4 5 6 7    8 lanes' registers,
    +-1 +-3 +-5 +-7      +-------4          the sequential
    +---2   +---6          +-------5 ...    tree, no memory,
    +-------4            0 1 2 3 at work    no barrier
    0   2   4   6
    at work: one         at work: half,
    thread in 2, 4, 8    quarter, eighth

So the divergent one keeps every warp busy with ever fewer lanes, and the sequential
one lets whole warps go.
"""

from __future__ import annotations

from typing import Any

from numba import cuda, float32

Array = Any
THREADS = 128  # of a block
WARP = 32
FULL = 0xFFFFFFFF  # all lanes take part


def reduce_divergent(values: Array, out: Array) -> None:
    """Interleaved addressing: in each round every second one of the remaining threads does an addition."""
    partial = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    partial[t] = values[i] if i < values.size else 0.0
    cuda.syncthreads()
    step = 1
    while step < THREADS:
        if t % (2 * step) == 0:
            partial[t] += partial[t + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        cuda.atomic.add(out, 0, partial[0])


def reduce_sequential(values: Array, out: Array) -> None:
    """Sequential addressing: the first half of the threads adds the second half's numbers to its own."""
    partial = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    partial[t] = values[i] if i < values.size else 0.0
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            partial[t] += partial[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, partial[0])


def reduce_shuffle(values: Array, out: Array) -> None:
    """Within a warp lanes read one another's registers: five rounds, then one atomic addition for each warp."""
    i = cuda.grid(1)
    value = values[i] if i < values.size else float32(0.0)
    offset = WARP // 2
    while offset > 0:
        value += cuda.shfl_down_sync(FULL, value, offset)
        offset //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, value)
