"""The same loop with while."""

from numba import cuda


@cuda.jit
def saxpy_grid_stride(alpha, x, y):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    while i < y.shape[0]:
        y[i] += alpha * x[i]
        i += cuda.blockDim.x * cuda.gridDim.x
