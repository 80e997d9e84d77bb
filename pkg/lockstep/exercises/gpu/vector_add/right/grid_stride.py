"""A grid-stride loop, which goes round once here; the sum written the other way round."""

from numba import cuda


@cuda.jit
def vector_add(x, y, z):
    for i in range(cuda.grid(1), len(z), cuda.gridsize(1)):
        z[i] = y[i] + x[i]
