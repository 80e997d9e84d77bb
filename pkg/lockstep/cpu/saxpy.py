# mypy: disable-error-code="untyped-decorator"
"""SAXPY: y = a·x + y, in single precision. The smallest kernel of linear algebra (BLAS level 1; Lawson et al. 1979).

The elements are independent, so that the compiler may compute many at once: SIMD. A wrong type prevents that. A Python
float is a float64, and a float64 times a float32 is a float64: then the loop converts every element to 64 bits,
computes half as many at once, and converts back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit
def saxpy(a: float, x: Any, y: Any) -> None:
    """y = a·x + y, in place. ``x`` and ``y``: float32 arrays of one length; ``a``: any number."""
    a32 = np.float32(a)
    for i in range(x.size):
        y[i] = a32 * x[i] + y[i]
