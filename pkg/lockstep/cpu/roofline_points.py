"""Five kernels as points on a roofline: their operations, bytes and arithmetic intensity.

A multiplication and an addition are two operations, even in one instruction. Bytes are those read and those written,
each element once, as if the cache kept it from then on; a float32 is 4 bytes.

    saxpy         y = a·x + y on n elements           2n operations     reads x and y, writes y
    dot           sum of x·y, n elements              2n                reads x and y
    polynomial    degree 9 by Horner, n elements      9·2n              reads x, writes y
    matvec        y = A·x, A is n x n                 2n²               reads A and x, writes y
    matmul        C = A·B, all n x n                  2n³               reads A and B, writes C
"""

from __future__ import annotations

from collections.abc import Callable

from lockstep.cpu.roofline import intensity, roofline
from lockstep.machines import Device

Counts = Callable[[int], tuple[int, int]]  # n → (operations, bytes)

KERNELS: dict[str, Counts] = {
    "saxpy": lambda n: (2 * n, 4 * 3 * n),
    "dot": lambda n: (2 * n, 4 * 2 * n),
    "polynomial": lambda n: (18 * n, 4 * 2 * n),
    "matvec": lambda n: (2 * n**2, 4 * (n**2 + 2 * n)),
    "matmul": lambda n: (2 * n**3, 4 * 3 * n**2),
}


def place_kernels(n: int, device: Device) -> dict[str, tuple[float, str]]:
    """For each of the five, by name: (arithmetic intensity in FLOP/byte, what limits it on ``device``: "memory" or
    "compute"). ``n``: elements of a vector, or the side of a matrix."""
    counted = {name: counts(n) for name, counts in KERNELS.items()}
    return {name: (intensity(*both), roofline(*both, device)[1]) for name, both in counted.items()}
