"""Without the decorator: the warp machine needs none. The block walks backwards, which is as coalesced."""

from numba import cuda


def vector_add(a, b, out):
    i = cuda.blockIdx.x * cuda.blockDim.x + (cuda.blockDim.x - 1 - cuda.threadIdx.x)
    if 0 <= i < out.size:
        left = a[i]
        right = b[i]
        out[i] = left + right
