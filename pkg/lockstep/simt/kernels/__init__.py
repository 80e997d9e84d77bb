"""The kernels of the GPU unit, as `numba.cuda` source: the warp machine interprets it, `cuda.jit` compiles it.

They are plain functions, so that both can use them: ``launch(vector_add, grid, block, …)`` here,
``cuda.jit(vector_add)[grid, block](…)`` on a GPU.
"""

from lockstep.simt.kernels.elementwise import saxpy_grid_stride, vector_add
from lockstep.simt.kernels.histogram import private_histogram
from lockstep.simt.kernels.matmul import naive_matmul, tiled_matmul
from lockstep.simt.kernels.reduction import reduce_divergent, reduce_sequential, reduce_shuffle
from lockstep.simt.kernels.transpose import naive_transpose, transpose

__all__ = [
    "naive_matmul",
    "naive_transpose",
    "private_histogram",
    "reduce_divergent",
    "reduce_sequential",
    "reduce_shuffle",
    "saxpy_grid_stride",
    "tiled_matmul",
    "transpose",
    "vector_add",
]
