"""The learner thought: as with processes: cut the vector, and everyone takes a piece."""

from numba import cuda

MISCONCEPTION = "a-piece-each"
TELL = (
    "In each turn the lanes of a warp touch elements that lie apart, as when every thread has a piece of its own. "
    "Begin at cuda.grid(1), and step by cuda.gridsize(1)."
)


@cuda.jit
def saxpy_grid_stride(alpha, x, y):
    threads = cuda.gridsize(1)
    piece = (y.size + threads - 1) // threads
    first = cuda.grid(1) * piece
    for i in range(first, min(first + piece, y.size)):
        y[i] = alpha * x[i] + y[i]
