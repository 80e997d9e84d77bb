"""A tensor core, emulated: one warp multiplies a 16 x 16 by a 16 x 8 matrix in one instruction.

``mma.sync.aligned.m16n8k16`` computes D = A·B + C, with A (16, 16) and B (16, 8) in fp16 or bf16 (here fp16 alone), C
and D (16, 8) in fp32 or fp16. No lane holds a matrix. Each of the 32 lanes holds a **fragment**: 8 elements of A, 4 of
B, 4 of C, in its registers. Which ones is laid down (NVIDIA, "PTX ISA", "Matrix fragments for mma.m16n8k16")::

    group = lane // 4     t = lane % 4

    A: row group or group + 8,   column 2t, 2t + 1, 2t + 8 or 2t + 9       8 registers of 16 bits
    B: row 2t, 2t + 1, 2t + 8 or 2t + 9,   column group                    4
    C: row group or group + 8,   column 2t or 2t + 1                       4

In one instruction a warp does 16·8·16 = 2,048 multiplications with addition; an ordinary one does 32.

Products of two fp16 numbers are exact in fp32. What the hardware rounds inside its sum is not published; here the sum
of 16 products and C is exact to float64, and rounded once, to the type of the accumulator.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lockstep.errors import UsageError

Matrix = npt.NDArray[Any]
Places = npt.NDArray[np.int64]  # (lane, register, 2): row and column
M, N, K = 16, 8, 16
WARP = 32

_lane = np.arange(WARP)
_group, _t = _lane // 4, _lane % 4


def _places(rows: list[Any], columns: list[Any]) -> Places:
    return np.stack([np.stack([r, c], axis=-1) for r, c in zip(rows, columns, strict=True)], axis=1)


A_PLACES = _places(
    [_group + 8 * (i // 2 % 2) for i in range(8)], [2 * _t + i % 2 + 8 * (i // 4) for i in range(8)]
)  # (32, 8, 2)
B_PLACES = _places([2 * _t + i % 2 + 8 * (i // 2) for i in range(4)], [_group] * 4)  # (32, 4, 2)
C_PLACES = _places([_group + 8 * (i // 2) for i in range(4)], [2 * _t + i % 2 for i in range(4)])  # (32, 4, 2)


def load_fragment(matrix: Matrix, places: Places) -> Matrix:
    """(lane, register): what each lane holds of ``matrix``, as `A_PLACES`, `B_PLACES` or `C_PLACES` lay it down."""
    wanted = tuple(places.reshape(-1, 2).max(axis=0) + 1)
    if np.shape(matrix) != wanted:
        raise UsageError(
            f"A fragment here is of a {wanted} matrix, and this one is {np.shape(matrix)}.", "Cut it first."
        )
    return np.asarray(matrix)[places[..., 0], places[..., 1]]


def store_fragment(fragment: Matrix, places: Places) -> Matrix:
    """The matrix whose elements the lanes hold: the reverse of `load_fragment`."""
    matrix = np.empty(places.reshape(-1, 2).max(axis=0) + 1, fragment.dtype)
    matrix[places[..., 0], places[..., 1]] = fragment
    return matrix


def mma_m16n8k16(a: Matrix, b: Matrix, c: Matrix) -> Matrix:
    """The fragment of D = A·B + C. ``a`` is (32, 8), ``b`` (32, 4), ``c`` (32, 4): lane, register.

    ``a`` and ``b`` are float16; ``c`` is float32 or float16, and so is the result. UsageError for anything else.
    """
    for name, given, shape in (("a", a, (WARP, 8)), ("b", b, (WARP, 4)), ("c", c, (WARP, 4))):
        if np.shape(given) != shape:
            raise UsageError(f"The fragment {name} is {shape}: lane, register; not {np.shape(given)}.")
    for name, given in (("a", a), ("b", b)):
        if given.dtype != np.float16:
            raise UsageError(f"The tensor core multiplies float16; {name} is {given.dtype}.", "Convert it first.")
    if c.dtype not in (np.float32, np.float16):
        raise UsageError(f"The tensor core accumulates in float32 or float16; c is {c.dtype}.")
    A, B, C = store_fragment(a, A_PLACES), store_fragment(b, B_PLACES), store_fragment(c, C_PLACES)
    D = A.astype(np.float64) @ B.astype(np.float64) + C
    return load_fragment(D.astype(c.dtype), C_PLACES)


def dot(x: Matrix, y: Matrix, accumulate: Any = np.float32) -> float:
    """x · y by tensor-core steps of 16 elements, x and y rounded to float16 first: shows what the accumulator loses.

    x and y are vectors whose length is a multiple of 16; ``accumulate`` is float32 or float16.
    """
    if x.shape != y.shape or x.ndim != 1 or x.size % K:
        raise UsageError(
            f"dot takes two vectors of the same length, a multiple of {K}; these are {x.shape}, {y.shape}."
        )
    total = accumulate(0)
    for k in range(0, x.size, K):
        products = x[k : k + K].astype(np.float16).astype(np.float64) * y[k : k + K].astype(np.float16)
        total = accumulate(products.sum() + total)
    return float(total)
