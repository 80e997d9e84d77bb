# %% [markdown] lab="readonly title"
# # Lab 03: Inside a GPU
#
# You write CUDA kernels: first one that is right, then ones that waste nothing. You need no GPU. A *warp machine*
# runs your kernels' source, 32 threads at a time, and counts what a GPU would have to do.
#
# [The lesson of this unit](../../course/03_gpu/lesson.ipynb) explains what you need.

# %% [markdown] lab="readonly how"
# ## How to work
#
# - Write each kernel in its cell, in place of `raise NotImplementedError()`. Names and parameters stay.
# - Run the cell below it. It launches your kernel with several grids and sizes. It looks at the results *and* at what
#   your kernel did to get them: instructions, lanes at work, memory sectors, bank conflicts, barriers, races.
# - A kernel may use what CUDA kernels use: arithmetic, `if`, `for` with `range`, `while`, and the names of `cuda`:
#   `grid`, `gridsize`, `threadIdx`, `blockIdx`, `blockDim`, `gridDim`, `laneid`, `shared.array`, `syncthreads`,
#   `syncwarp`, `atomic.add`, `shfl_down_sync` and its relatives. It returns nothing, and it works on single elements:
#   `a[i]`, never all of `a` at once.
# - All arrays that your kernels are given hold float32. A kernel changes its result only, never what it reads.
# - Sizes of shared arrays are constants, as on a GPU: numbers, or names of numbers, but no arithmetic with names.
# - The same source runs on a GPU: `kernel[blocks, threads](…)` instead of `launch(kernel, blocks, threads, …)`.
#
# To look inside, launch a kernel yourself and read its table, as here:

# %% lab="readonly imports"
import numpy as np
from numba import cuda, float32

from lockstep import check, show
from lockstep.simt import launch


# %%
@cuda.jit
def double(values):
    i = cuda.grid(1)
    if i < values.size:
        values[i] *= 2


values = np.arange(100, dtype=np.float32)
result = launch(double, 1, 128, values)
print(values[:5])
print(result.table())

# %% [markdown] lab="readonly about-vector_add"
# ## 1. Vector addition (10 minutes)
#
# `a`, `b` and `out` are vectors of n floats. Compute `out[i] = a[i] + b[i]` for all i, and leave `a` and `b` as they
# are.
#
# The grid is one-dimensional. It has at least n threads in all, and most often some more: the last block is not full.
# Blocks may have any size.
# Give each thread one element, and let neighbouring threads take neighbouring elements.


# %% lab="answer vector_add"
@cuda.jit
def vector_add(a, b, out):
    """out = a + b, one element a thread."""
    ### BEGIN SOLUTION
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]
    ### END SOLUTION


# %% lab="tests vector_add"
check("gpu.vector_add", vector_add)

# %% [markdown] lab="readonly about-saxpy_grid_stride"
# ## 2. A loop as wide as the grid (15 minutes)
#
# Compute `y[i] = alpha * x[i] + y[i]` for vectors of n floats, with a one-dimensional grid of **any** size: it may
# have far fewer threads than there are elements, or more. So each thread works in a loop.
#
# In every turn of the loop the 32 threads of a warp must touch 32 neighbouring elements. Each element is touched by
# one thread only. `cuda.gridsize(1)` is the number of all threads.


# %% lab="answer saxpy_grid_stride"
@cuda.jit
def saxpy_grid_stride(alpha, x, y):
    """y = alpha * x + y, for a grid of any size."""
    ### BEGIN SOLUTION
    for i in range(cuda.grid(1), y.size, cuda.gridsize(1)):
        y[i] = alpha * x[i] + y[i]
    ### END SOLUTION


# %% lab="tests saxpy_grid_stride"
check("gpu.saxpy_grid_stride", saxpy_grid_stride)

# %% [markdown] lab="readonly about-mend_divergent_reduction"
# ## 3. A sum that is sometimes right (20 minutes)
#
# This kernel adds up the vector `values`. Each block sums its part in shared memory, as a tree: in the first round
# every second thread adds its right neighbour's number to its own, then every fourth thread, and so on. At the end
# the block adds its sum to `out[0]`, which is 0 at the start. Blocks have 128 threads, and there are as many blocks
# as it takes.
#
# With one block of 32 threads and 32 numbers it may well print the right sum. It has four faults: threads read what
# other threads have not written yet, twice; it reads beyond the end of `values`; and several blocks change `out[0]`
# at once. Run the check as it is first, and read what it says: it names the faults one or two at a time. Then mend
# the kernel in the cell below this one. It stays a tree: atomic additions once a block, not once a thread.

# %% lab="given mend_divergent_reduction"
THREADS = 128  # of a block


@cuda.jit
def mend_divergent_reduction(values, out):
    """Add the sum of values to out[0]."""
    partial = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    partial[t] = values[i]
    step = 1
    while step < THREADS:
        if t % (2 * step) == 0:
            partial[t] += partial[t + step]
        step *= 2
    if t == 0:
        out[0] += partial[0]


# %% lab="answer mend_divergent_reduction"
### BEGIN SOLUTION
@cuda.jit
def mend_divergent_reduction(values, out):
    """Add the sum of values to out[0]."""
    partial = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    partial[t] = values[i] if i < values.size else 0.0
    cuda.syncthreads()
    step = 1
    while step < THREADS:
        if t % (2 * step) == 0:
            partial[t] += partial[t + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        cuda.atomic.add(out, 0, partial[0])


### END SOLUTION

# %% lab="tests mend_divergent_reduction"
check("gpu.mend_divergent_reduction", mend_divergent_reduction)

# %% [markdown] lab="readonly about-transpose"
# ## 4. A transpose that wastes nothing (25 minutes)
#
# `source` has the shape (rows, columns), `target` (columns, rows). Write `target[j, i] = source[i, j]` for all of
# them. Blocks have 32 x 32 threads, and the grid covers `source`: `x, y = cuda.grid(2)`, where x runs along the
# columns. Sizes need not be multiples of 32, and matrices need not be square.
#
# Every warp reads 32 neighbours and writes 32 neighbours, and each element once. So go through a tile in shared memory.
# And no two lanes meet in a bank: mind the tile's width.

# %% lab="readonly tile"
TILE = 32


# %% lab="answer transpose"
@cuda.jit
def transpose(source, target):
    """target = source, transposed, through a tile in shared memory."""
    ### BEGIN SOLUTION
    tile = cuda.shared.array((TILE, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    if y < source.shape[0] and x < source.shape[1]:
        tile[ty, tx] = source[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * TILE + tx
    y = cuda.blockIdx.x * TILE + ty
    if y < target.shape[0] and x < target.shape[1]:
        target[y, x] = tile[tx, ty]
    ### END SOLUTION


# %% lab="tests transpose"
check("gpu.transpose", transpose)

# %% [markdown] lab="readonly about-tiled_matmul"
# ## 5. Matrix product by tiles (30 minutes)
#
# `C = A·B`: A has the shape (M, K), B (K, N), C (M, N), and these need not be multiples of 16. What C holds at the
# start means nothing: overwrite it. Blocks have 16 x 16 threads, and the grid covers C: `j, i = cuda.grid(2)`, where
# j is the column. Each thread computes one element of C.
#
# Read from global memory as little as tiles allow: in each step the block brings a 16 x 16 tile of A and one of B into
# shared memory, one element of each a thread, neighbours by neighbours; then every thread multiplies a row of the first
# tile with a column of the second. What lies beyond an edge counts as zero. With one tile of each, two barriers are
# needed in each step: find out why. C is written once, at the end.

# %% lab="readonly tile16"
TILE16 = 16


# %% lab="answer tiled_matmul"
@cuda.jit
def tiled_matmul(A, B, C):
    """C = A·B by 16 x 16 tiles in shared memory."""
    ### BEGIN SOLUTION
    a = cuda.shared.array((TILE16, TILE16), float32)
    b = cuda.shared.array((TILE16, TILE16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = float32(0.0)
    for start in range(0, A.shape[1], TILE16):
        a[ty, tx] = A[i, start + tx] if i < A.shape[0] and start + tx < A.shape[1] else 0.0
        b[ty, tx] = B[start + ty, j] if start + ty < B.shape[0] and j < B.shape[1] else 0.0
        cuda.syncthreads()
        for k in range(TILE16):
            total += a[ty, k] * b[k, tx]
        cuda.syncthreads()
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = total
    ### END SOLUTION


# %% lab="tests tiled_matmul"
check("gpu.tiled_matmul", tiled_matmul)

# %% [markdown] lab="readonly extra"
# ## Extra
#
# What follows is for those who want more. The cells of each exercise are folded: open them by the button below
# its text. The grade stands on the exercises above; the points of these are yours alone, in `lockstep progress`.

# %% [markdown] lab="readonly about-reduce_sequential"
# ## 6. Let whole warps go (15 minutes)
#
# The same sum, by another tree. In the first round threads 0 to 63 add the numbers of threads 64 to 127 to their own,
# in the second round threads 0 to 31 those of 32 to 63, and so on. Now the threads at work stand side by side: warps
# without work have nothing to issue.
#
# Same parameters, same blocks of `THREADS` = 128 threads, any number of blocks; `out[0]` is 0 at the start, and each
# block adds to it once. The check counts how often your warps go to shared memory, and looks for bank conflicts.


# %% lab="answer reduce_sequential"
@cuda.jit
def reduce_sequential(values, out):
    """Add the sum of values to out[0]; the first half of the threads adds the second half's numbers."""
    ### BEGIN SOLUTION
    partial = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    partial[t] = values[i] if i < values.size else 0.0
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            partial[t] += partial[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, partial[0])
    ### END SOLUTION


# %% lab="tests reduce_sequential"
check("gpu.reduce_sequential", reduce_sequential)

# %% [markdown] lab="readonly about-reduce_shuffle"
# ## 7. Without memory (15 minutes)
#
# Within a warp nobody needs shared memory: `cuda.shfl_down_sync(0xFFFFFFFF, value, offset)` returns the `value` of
# the lane that is `offset` further on. Beyond lane 31 there is nobody: such a lane gets its own value back. The first
# argument, the **mask**, has one bit for each lane: who takes part. `0xFFFFFFFF` is all 32, and all must come.
#
# Sum each warp's 32 numbers by shuffles, in five rounds, each thread with its own element of `values`. Then add the
# warp's sum to `out[0]` atomically: once a warp, or once a block, but not once a lane. Blocks have 128 threads again;
# `cuda.laneid` is the lane, 0 to 31. Start with `float32(0.0)` where a thread has no element: lanes exchange numbers
# of one type.


# %% lab="answer reduce_shuffle"
@cuda.jit
def reduce_shuffle(values, out):
    """Add the sum of values to out[0]; each warp sums by shuffles."""
    ### BEGIN SOLUTION
    i = cuda.grid(1)
    value = values[i] if i < values.size else float32(0.0)
    offset = 16
    while offset > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, value)
    ### END SOLUTION


# %% lab="tests reduce_shuffle"
check("gpu.reduce_shuffle", reduce_shuffle)

# %% [markdown] lab="readonly about-fragment_matmul"
# ## 8. Matrix product by tensor cores (20 minutes)
#
# A tensor core multiplies a 16 x 16 piece of A by a 16 x 8 piece of B in one instruction of the whole warp, and adds
# the result to a 16 x 8 piece of C. The instruction is handed to you: `mma(a, b, c)` returns `a·b + c`.
#
# `a`, `b` and `c` are **fragments**: arrays of the shape (32, 8), (32, 4) and (32, 4), which say what each of the 32
# lanes holds. Two helpers cut and paste:
#
# - `load_fragment(piece, A_PLACES)` takes a piece of exactly 16 x 16 apart (`B_PLACES` and `C_PLACES`: 16 x 8).
# - `store_fragment(c, C_PLACES)` puts one together again.
#
# This is a function on NumPy arrays, not a kernel. `A` is (m, k) and `B` is (k, n), both float16; m and k are
# multiples of 16, n is one of 8. Return C = A·B as float32, (m, n). Accumulate in float32: an accumulator of zeros is
# `np.zeros((32, 4), np.float32)`. `mma` returns the new c, and does not change the old one. The check counts how
# often you call it, and how often it begins from zeros: once for each piece of C.

# %% lab="readonly places"
from lockstep.simt.tensor_core import A_PLACES, B_PLACES, C_PLACES, load_fragment, store_fragment


# %% lab="answer fragment_matmul"
def fragment_matmul(A, B, mma):
    """C = A·B, float16 in, float32 out, by mma(a, b, c) alone."""
    ### BEGIN SOLUTION
    (m, k), n = A.shape, B.shape[1]
    C = np.zeros((m, n), np.float32)
    for i in range(0, m, 16):
        for j in range(0, n, 8):
            c = np.zeros((32, 4), np.float32)
            for step in range(0, k, 16):
                a = load_fragment(A[i : i + 16, step : step + 16], A_PLACES)
                b = load_fragment(B[step : step + 16, j : j + 8], B_PLACES)
                c = mma(a, b, c)
            C[i : i + 16, j : j + 8] = store_fragment(c, C_PLACES)
    return C
    ### END SOLUTION


# %% lab="tests fragment_matmul"
check("gpu.fragment_matmul", fragment_matmul)

# %% [markdown] lab="readonly about-diagnose"
# ## 9. Name the illness (20 minutes)
#
# You get the counts of a kernel that you have never seen. What is wrong with it? Return one of
#
# `"healthy"`, `"divergence"`, `"uncoalesced"`, `"bank conflicts"`, `"serial atomics"`, `"race"`
#
# `counts` is a dict of whole numbers, summed over the launch:
#
# | key | what it counts |
# |---|---|
# | `threads` | threads of the launch |
# | `instructions` | instructions, once for each warp |
# | `lanes` | active lanes, summed over the instructions: at most 32 for each |
# | `global_requests` | loads and stores of warps |
# | `global_bytes`, `sectors` | bytes that their lanes asked for; sectors of 32 bytes that were moved |
# | `shared_requests`, `wavefronts` | accesses of warps to shared memory; their wavefronts (float64: at least two) |
# | `barriers`, `atomics` | warps that came to a barrier; atomic operations of single lanes |
# | `races` | places where a race was found |
#
# No kernel has two illnesses. Healthy ones are small or large, work on float32 or float64, may add atomically once a
# warp, and their last block may not be full. Compare with your own kernels: this cell prints the counts of one.

# %% lab="readonly counts"
launch(double, 1, 128, np.arange(100, dtype=np.float32)).counts()


# %% lab="answer diagnose"
def diagnose(counts):
    """The illness of the kernel with these counts, by its name."""
    ### BEGIN SOLUTION
    if counts["races"]:
        return "race"
    if counts["atomics"] > 0.25 * counts["threads"]:
        return "serial atomics"
    if 32 * counts["sectors"] > 2 * counts["global_bytes"]:
        return "uncoalesced"
    if counts["wavefronts"] > 2 * counts["shared_requests"]:
        return "bank conflicts"
    if counts["lanes"] < 0.6 * 32 * counts["instructions"]:
        return "divergence"
    return "healthy"
    ### END SOLUTION


# %% lab="tests diagnose"
check("gpu.diagnose", diagnose)

# %% [markdown] lab="readonly next"
# ## What now?
#
# The library's kernels are in `pkg/lockstep/simt/kernels`. Compare them with yours: values, and counts.
#
# Next comes [unit 04, Communication](../../course/04_communication/lesson.ipynb).
