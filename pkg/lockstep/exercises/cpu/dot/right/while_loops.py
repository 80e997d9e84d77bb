"""Two while loops. The compiler unrolls the second one, over what is left, four times."""

import numpy as np
from numba import njit


@njit(fastmath={"reassoc"})
def dot(x, y):
    s0 = s1 = s2 = s3 = np.float32(0.0)
    i = 0
    while i + 4 <= x.size:
        s0 += x[i] * y[i]
        s1 += x[i + 1] * y[i + 1]
        s2 += x[i + 2] * y[i + 2]
        s3 += x[i + 3] * y[i + 3]
        i += 4
    while i < x.size:
        s0 += x[i] * y[i]
        i += 1
    return s0 + s1 + s2 + s3
