"""Tensor cores: one instruction of a warp multiplies small matrices, D = A·B + C, with operands spread over its lanes.

``mma.sync.m16n8k16`` takes A (16 x 16), B (16 x 8) in float16 or bfloat16 and C, D (16 x 8) in float32 or float16. No
lane has a matrix: each holds a *fragment*, 8 items of A, 4 of B and 4 of C, in its registers. With g = lane // 4 and
t = lane % 4 (PTX ISA, "Matrix Fragments for mma.m16n8k16")::

    A: rows g and g + 8, columns 2t, 2t + 1, 2t + 8, 2t + 9       B: rows 2t, 2t + 1, 2t + 8, 2t + 9, column g
    C: rows g and g + 8, columns 2t, 2t + 1

That is 2,048 multiply-adds in one instruction of a warp, where an ordinary one does 32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lockstep.errors import UsageError
from lockstep.simt.masks import LANES

M, N, K = 16, 8, 16

Places = tuple[NDArray[np.int64], NDArray[np.int64]]  # (rows, columns) of each lane's items: (32, items)
Matrix = NDArray[Any]
Fragment = NDArray[Any]  # (32, items)

_G, _T = (np.arange(LANES) // 4)[:, None], (np.arange(LANES) % 4)[:, None]


def _places(rows: list[int], columns: list[int], row: Any, column: Any) -> Places:
    return row + np.array(rows)[None, :], column + np.array(columns)[None, :]


A_PLACES = _places([0, 0, 8, 8, 0, 0, 8, 8], [0, 1, 0, 1, 8, 9, 8, 9], _G, 2 * _T)
B_PLACES = _places([0, 1, 8, 9], [0, 0, 0, 0], 2 * _T, _G)
C_PLACES = _places([0, 0, 8, 8], [0, 1, 0, 1], _G, 2 * _T)


def load_fragment(matrix: Matrix, places: Places) -> Fragment:
    """The fragment of a matrix, each lane's items: (32, 8) of A, (32, 4) of B or C."""
    rows, columns = places
    wanted = int(rows.max()) + 1, int(columns.max()) + 1
    if matrix.shape != wanted:
        raise UsageError(f"This fragment is of a matrix {wanted}, and yours is {matrix.shape}.", "Cut a piece of it.")
    return matrix[rows, columns]


def store_fragment(fragment: Fragment, places: Places) -> Matrix:
    """The matrix of a fragment, from the items of all lanes."""
    rows, columns = places
    matrix = np.empty((int(rows.max()) + 1, int(columns.max()) + 1), fragment.dtype)
    matrix[rows, columns] = fragment
    return matrix


def mma_m16n8k16(a: Fragment, b: Fragment, c: Fragment) -> Fragment:
    """D = A·B + C for one warp, (32, 4), of C's type: float32, or float16.

    Products of float16 (and of bfloat16, given as float32) are exact, and here so is their sum, up to the last bit of
    float64; it is rounded once. NVIDIA does not say in which order a tensor core adds, nor how it rounds in between.
    """
    for fragment, items in ((a, 8), (b, 4), (c, 4)):
        if fragment.shape != (LANES, items):
            message = f"A fragment is {fragment.shape}; the operands are (32, 8), (32, 4) and (32, 4)."
            raise UsageError(message, "Use load_fragment with A_PLACES, B_PLACES and C_PLACES.")
    exact = store_fragment(a, A_PLACES).astype(np.float64) @ store_fragment(b, B_PLACES).astype(np.float64)
    total: Fragment = (load_fragment(exact, C_PLACES) + c).astype(c.dtype)
    return total


def bfloat16(values: Matrix) -> Matrix:
    """Rounded to bfloat16, as float32: the same exponents as float32, and 8 bits of precision."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    even = ((bits >> np.uint32(16)) & np.uint32(1)) + np.uint32(0x7FFF)
    rounded = ((bits + even) & np.uint32(0xFFFF0000)).view(np.float32)
    return np.where(np.isfinite(values), rounded, np.asarray(values, np.float32))


def dot(x: Matrix, y: Matrix, accumulator: type[np.floating[Any]] = np.float32) -> float:
    """x·y as tensor cores add it up: 16 exact products at a time are added to an ``accumulator``, rounded after each
    step."""
    if len(x) != len(y) or len(x) % K:
        raise UsageError(
            f"The vectors have {len(x)} and {len(y)} items.", f"Give two of one length, a multiple of {K}."
        )
    total = accumulator(0)
    for start in range(0, len(x), K):
        products = x[start : start + K].astype(np.float64) * y[start : start + K].astype(np.float64)
        total = accumulator(float(total) + products.sum())
    return float(total)
