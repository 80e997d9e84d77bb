"""Kernels that run on the warp machine and on numba's own simulator, and must leave the same arrays behind.

The simulator runs each thread as Python; it knows no warps. So no kernel here has a shuffle or a vote, or a race.
``python kernel_bank.py out.npz`` under NUMBA_ENABLE_CUDASIM=1 writes what the simulator makes of them.
"""

import math
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, float32, float64, int32, int64

TILE = 8
PADDED = TILE + 1
WEIGHTS = np.array([0.25, 0.5, 0.25], np.float32)


class Case(NamedTuple):
    kernel: Callable[..., None]
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    arguments: Callable[[], tuple[Any, ...]]
    shared_bytes: int = 0


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    """Multiples of 1/8: sums of them are exact."""
    return (np.random.default_rng(seed).integers(-64, 64, shape) / 8).astype(np.float32)


def whole(*shape: int, high: int = 100, kind: type = np.int32, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, high, shape).astype(kind)


def zeros(*shape: int, kind: type = np.float32) -> np.ndarray:
    return np.zeros(shape, kind)


def saxpy(a, x, y):
    for i in range(cuda.grid(1), y.size, cuda.gridsize(1)):
        y[i] = a * x[i] + y[i]


def grid_in_two_axes(out):
    x, y = cuda.grid(2)
    if x < out.shape[1] and y < out.shape[0]:
        out[y, x] = x * 1000 + y


def grid_in_three_axes(out):
    x, y, z = cuda.grid(3)
    w, h, d = cuda.gridsize(3)
    if z < out.shape[0] and y < out.shape[1] and x < out.shape[2]:
        out[z, y, x] = x + y * w + z * w * h + d


def by_hand(out):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    j = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if i < out.shape[0] and j < out.shape[1]:
        out[i][j] = cuda.gridDim.x * 100 + cuda.blockDim.y + i


def mandelbrot(out, turns):
    x, y = cuda.grid(2)
    cr, ci = -2 + 3 * x / out.shape[1], -1 + 2 * y / out.shape[0]
    zr = zi = 0.0
    count = 0
    for _ in range(turns):
        zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
        if zr * zr + zi * zi > 4:
            break
        count += 1
    out[y, x] = count


def collatz(n, steps):
    i = cuda.grid(1)
    if i >= n.size:
        return
    value, count = n[i], 0
    while value > 1:
        count += 1
        if value % 2 == 0:
            value //= 2
            continue
        value = 3 * value + 1
    steps[i] = count


def nested_loops(x, out):
    i = cuda.grid(1)
    total = 0
    for a in range(i % 5):
        for b in range(10, a, -2):
            if b == 6:
                continue
            if a + b > 11:
                break
            total += a * b + x[i % x.size]
    out[i] = total


def loop_variable_stays(out):
    i = cuda.grid(1)
    last = -1
    for k in range(i % 7):
        last = k
    out[i] = last


def integers(a, b, out):
    i = cuda.grid(1)
    x, y = a[i], b[i] + 1
    out[0, i] = x // y
    out[1, i] = -x % y
    out[2, i] = x << 3
    out[3, i] = -x >> 2
    out[4, i] = (x & y) | (x ^ 5)
    out[5, i] = ~x
    out[6, i] = x**2
    out[7, i] = abs(x - y)
    out[8, i] = max(x, y, 7) - min(x, y)
    out[9, i] = int(x / y * 3.7)


def compare(a, b, out):
    i = cuda.grid(1)
    x, y = a[i], b[i]
    out[0, i] = x < y
    out[1, i] = -2 < x <= y
    out[2, i] = x == y or x > 3
    out[3, i] = not (x != y and y >= 0)
    out[4, i] = (1 if x > 0 else -1) if y > 0 else 0
    out[5, i] = bool(x) and y < 4


def guarded_by_and(a, out):
    i = cuda.grid(1)
    if i < a.size and a[i] > 0:
        out[i] = 1


def floats(a, out):
    i = cuda.grid(1)
    x = a[i]
    out[0, i] = math.sqrt(abs(x))
    out[1, i] = math.exp(x / 8)
    out[2, i] = math.floor(x) + math.ceil(x)
    out[3, i] = math.sin(x) * math.cos(x) + math.pi
    out[4, i] = math.pow(abs(x), 1.5)
    out[5, i] = math.atan2(x, 2.0)
    out[6, i] = math.erf(x)
    out[7, i] = x**3
    out[8, i] = math.fabs(x) if math.isnan(x) or x < 0 else math.log(1 + x)
    out[9, i] = float32(x) * float64(2.5) + int32(x) + int64(3)


def shared_reversal(a):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    a[cuda.grid(1)] = s[cuda.blockDim.x - 1 - t]


def dynamic_reversal(a):
    s = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    a[t] = s[63 - t]


def block_sum(a, out):
    s = cuda.shared.array(shape=128, dtype=float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = a[i] if i < a.size else 0.0
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            s[t] += s[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        cuda.atomic.add(out, 0, s[0])


def transpose(a, b):
    s = cuda.shared.array((TILE, PADDED), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if y < a.shape[0] and x < a.shape[1]:
        s[ty, tx] = a[y, x]
    cuda.syncthreads()
    row, column = cuda.blockIdx.x * TILE + ty, cuda.blockIdx.y * TILE + tx
    if row < b.shape[0] and column < b.shape[1]:
        b[row, column] = s[tx, ty]


def histogram(values, bins):
    own = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    if t < 16:
        own[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(own, values[i], 1)
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(bins, t, own[t])


def extremes(a, out):
    i = cuda.grid(1)
    cuda.atomic.max(out, (0, i % 3), a[i])
    cuda.atomic.min(out, (1, i % 3), a[i])


def local_sort(a):
    """Each thread sorts its row by insertion."""
    row = cuda.local.array(8, float32)
    i = cuda.grid(1)
    for k in range(8):
        row[k] = a[i, k]
    for k in range(1, 8):
        held, j = row[k], k - 1
        while j >= 0 and row[j] > held:
            row[j + 1] = row[j]
            j -= 1
        row[j + 1] = held
    for k in range(8):
        a[i, k] = row[k]


def blur(a, out):
    i = cuda.grid(1)
    weights = cuda.const.array_like(WEIGHTS)
    if 0 < i < a.size - 1:
        total = float32(0)
        for k in range(3):
            total += weights[k] * a[i + k - 1]
        out[i] = total


def _square(x):
    return x * x


def _clipped(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x


def _both(x):
    return x + 1, x - 1


square, clipped, both = (cuda.jit(f, device=True) for f in (_square, _clipped, _both))


def device_functions(a, out):
    i = cuda.grid(1)
    up, down = both(square(a[i]))
    out[i] = clipped(up, 0.0, 9.0) * down


def votes_of_a_block(a, out):
    i = cuda.threadIdx.x
    out[0] = cuda.syncthreads_count(a[i] > 3)
    if cuda.syncthreads_or(a[i] > 1000):
        out[1] = 1
    everybody = cuda.syncthreads_and(a[i] < 1000)
    out[2] = everybody


def until_nothing_changes(a):
    """Bubble sort of neighbours by a block: the loop ends when no thread has exchanged anything."""
    t = cuda.threadIdx.x
    turn = 0
    changed = True
    while cuda.syncthreads_or(changed or turn % 2 == 1):
        i = 2 * t + turn % 2
        changed = False
        if i + 1 < a.size and a[i] > a[i + 1]:
            a[i], a[i + 1] = a[i + 1], a[i]
            changed = True
        turn += 1
        if turn > 2 * a.size:
            changed = False


def from_the_end(a, out):
    i = cuda.grid(1)
    out[i] = a[-1] - a[i - a.size]


def rows(a, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        row = a[i]
        total = 0.0
        for k in range(row.size):
            total += row[k]
        out[i] = total * len(a) + a.ndim


CASES = {
    case.kernel.__name__: case
    for case in (
        Case(saxpy, 3, 40, lambda: (np.float32(2.5), numbers(300), numbers(300, seed=1))),
        Case(grid_in_two_axes, (3, 2), (8, 12), lambda: (zeros(20, 21, kind=np.int64),)),
        Case(grid_in_three_axes, (2, 2, 3), (5, 3, 2), lambda: (zeros(5, 6, 9, kind=np.int64),)),
        Case(by_hand, (3, 2), (4, 9, 2), lambda: (zeros(10, 17, kind=np.int64),)),
        Case(mandelbrot, (2, 2), (16, 8), lambda: (zeros(16, 32, kind=np.int32), 30)),
        Case(collatz, 2, 48, lambda: (np.arange(90), zeros(90, kind=np.int64))),
        Case(nested_loops, 2, 50, lambda: (whole(7), zeros(100, kind=np.int64))),
        Case(loop_variable_stays, 1, 70, lambda: (zeros(70, kind=np.int64),)),
        Case(integers, 1, 64, lambda: (whole(64), whole(64, seed=1), zeros(10, 64, kind=np.int64))),
        Case(compare, 1, 96, lambda: (whole(96, high=6), whole(96, high=6, seed=1), zeros(6, 96, kind=np.int32))),
        Case(guarded_by_and, 1, 64, lambda: (numbers(40), zeros(40))),
        Case(floats, 1, 64, lambda: (numbers(64), zeros(10, 64))),
        Case(shared_reversal, 4, 64, lambda: (numbers(256),)),
        Case(dynamic_reversal, 1, 64, lambda: (numbers(64),), 256),
        Case(block_sum, 3, 128, lambda: (numbers(300), zeros(1))),
        Case(transpose, (3, 2), (TILE, TILE), lambda: (numbers(13, 20), zeros(20, 13))),
        Case(histogram, 2, 48, lambda: (whole(500, high=16), zeros(16, kind=np.int32))),
        Case(extremes, 2, 40, lambda: (numbers(80), zeros(2, 3))),
        Case(local_sort, 1, 40, lambda: (numbers(40, 8),)),
        Case(blur, 2, 64, lambda: (numbers(100), zeros(100))),
        Case(device_functions, 1, 64, lambda: (numbers(64), zeros(64))),
        Case(votes_of_a_block, 1, 64, lambda: (whole(64), zeros(3, kind=np.int32))),
        Case(until_nothing_changes, 1, 32, lambda: (numbers(40),)),
        Case(from_the_end, 1, 32, lambda: (numbers(32), zeros(32))),
        Case(rows, 1, 32, lambda: (numbers(20, 9), zeros(20))),
    )
}


def simulated(path: str) -> None:
    """Run every case by numba's simulator, and keep all arrays."""
    found = {}
    for name, case in CASES.items():
        arguments = case.arguments()
        cuda.jit(case.kernel)[case.grid, case.block, 0, case.shared_bytes](*arguments)
        found |= {f"{name}/{n}": a for n, a in enumerate(arguments) if isinstance(a, np.ndarray)}
    np.savez(path, **found)


if __name__ == "__main__":
    simulated(sys.argv[1])
