"""A histogram with private counters: every block counts in shared memory, and adds to the global counters once.

Atomic additions to one address are serialised. In shared memory only the threads of one block compete, and access is
fast. So global memory gets BINS additions a block, however many values there are.
"""

from __future__ import annotations

from typing import Any

from numba import cuda, int32

Array = Any
BINS = 64


def private_histogram(values: Array, counts: Array) -> None:
    """counts[b] = how many values are b. Any grid; a block has at least BINS threads."""
    mine = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    if t < BINS:
        mine[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, values[i], 1)
    cuda.syncthreads()
    if t < BINS:
        cuda.atomic.add(counts, t, mine[t])
