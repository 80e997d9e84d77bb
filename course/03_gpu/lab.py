# %% [markdown] lab="readonly title"
# # Lab 03: Inside a GPU
#
# You write CUDA kernels: first one that is right, then ones that waste nothing. You need no GPU. A *warp machine*
# runs your kernels' source, 32 threads at a time, and counts what a GPU would have to do.
#
# [The lesson](../../course/03_gpu/lesson.ipynb) explains what you need. Each exercise names its section, and adds one idea
# to those before it.

# %% [markdown] lab="readonly how"
# ## How to work
#
# Write each kernel in its cell, in place of `raise NotImplementedError()`. Run the cell below it: it launches your kernel
# with several grids and sizes, looks at the results *and* at what your kernel did to get them, and says what it saw. Try
# as often as you like. Each exercise has three folded hints.
#
# - A kernel may use what CUDA kernels use: arithmetic, `if`, `for` with `range`, `while`, and the names of `cuda`:
#   `grid`, `gridsize`, `threadIdx`, `blockIdx`, `blockDim`, `gridDim`, `laneid`, `shared.array`, `syncthreads`,
#   `syncwarp`, `atomic.add`, `shfl_down_sync` and its relatives. It returns nothing, and it works on single elements:
#   `a[i]`, never all of `a` at once.
# - All arrays that your kernels are given hold float32, where nothing else is said. A kernel changes its result only, never
#   what it reads.
# - Sizes of shared arrays are constants, as on a GPU: numbers, or names of numbers, but no arithmetic with names.
# - The same source runs on a GPU: `kernel[blocks, threads](…)` instead of `launch(kernel, blocks, threads, …)`.
#
# To look inside, launch a kernel yourself and read its table, as here:

# %% lab="readonly imports"
import numpy as np
from numba import cuda, float32, int32

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
# ## 1. Vector addition ({minutes} minutes, {points} points)
#
# The first kernel of everybody. (Section 1 of the lesson: where am I, and is there an element for me?)
#
# - **You get** `a`, `b` and `out`, vectors of n floats. The grid is one-dimensional and has at least n threads. Most often
#   it has some more: the last block is not full. Blocks may have any size.
# - **You return** nothing: `out[i]` becomes `a[i] + b[i]`, and `a` and `b` stay as they are.
# - **You may use** an `if`. Give each thread one element.
# - **It may cost** 12·n bytes of global memory. Neighbouring threads take neighbouring elements.

# %% [markdown] lab="hint vector_add"
# Take n = 5 and 2 blocks of 4 threads. Write down the number of each thread in the grid. Which ones have no element?
#
# ---
#
# A thread's number in the grid is its block's number, times the threads of a block, plus its number in the block. If there
# is an element with that number, the thread adds. The others do nothing.
#
# ---
#
# ```python
# i = ...  # this thread's number in the grid
# if ...:  # there is such an element
#     out[i] = ...
# ```
#
# The check tells you which thread touches what is not there.


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
# ## 2. A loop as wide as the grid ({minutes} minutes, {points} points)
#
# New here: a loop, so that a grid of any size does the work. (Section 3 of the lesson; your `element` is its heart.)
#
# - **You get** a number `alpha`, and `x` and `y`, vectors of n floats. The one-dimensional grid may have far fewer threads
#   than there are elements, or more.
# - **You return** nothing: `y[i]` becomes `alpha * x[i] + y[i]`.
# - **You may use** `cuda.grid(1)`, and `cuda.gridsize(1)`: the number of all threads.
# - **It may cost** 12·n bytes. Each element is touched by one thread only. In every turn of the loop, the 32 threads of a
#   warp touch 32 neighbours.

# %% [markdown] lab="hint saxpy_grid_stride"
# Take n = 10 and 4 threads in all. Which elements are thread 1's? Look at the table below your `element` in the lesson.
#
# ---
#
# A thread begins with the element that has its own number. Then it jumps over all that the other threads have taken in this
# turn. It ends where the vector ends. Python's `range` has all three: begin, end, step.
#
# ---
#
# ```python
# for i in range(..., ..., ...):  # from my number to the end, as wide as the grid
#     y[i] = ...
# ```
#
# The check tells you how many sectors are moved, and which elements are wrong.


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
# ## 3. A sum that is sometimes right ({minutes} minutes, {points} points)
#
# New here: threads that touch what other threads touch. (Section 5 of the lesson; section 6 for `out[0]`.)
#
# The kernel below adds up a vector. Each block sums its part in shared memory, as a tree: in the first round every second
# thread adds its right neighbour's number to its own, then every fourth thread, and so on. It has three faults of one
# kind: **a word is touched by two threads, and nothing says in which order.** With one block of 32 threads it may well
# print the right sum. Run the check first, and read what it says. Then mend the kernel in the cell below it.
#
# - **You get** `values`, and `out` with one number, 0. Blocks have 128 threads; there are as many as it takes.
# - **You return** nothing: `out[0]` becomes the sum of `values`.
# - **You may use** barriers, and an atomic addition.
# - **It may cost** one atomic addition a block. It stays a tree in shared memory, and each thread reads its own element.

# %% [markdown] lab="hint mend_divergent_reduction"
# Take two threads, 0 and 1, and write down what each reads and writes in the first round, and what in the second. Which of
# these must come first? Which line stands between them?
#
# ---
#
# A word that one thread writes and another reads needs a barrier in between. It happens twice: after loading, and after each
# round. All threads must come to it, also those that don't add. Blocks can't wait for each other: for `out[0]` there is an
# addition that cannot be interrupted half-way.
#
# ---
#
# ```python
# partial[t] = ...
# ...  # all have loaded
# while step < THREADS:
#     if t % (2 * step) == 0:
#         partial[t] += partial[t + step]
#     ...  # all have added; not inside of the if
#     step *= 2
# if t == 0:
#     ...  # one atomic addition
# ```
#
# The check names the lines and the threads of each fault that is left.

# %% lab="given mend_divergent_reduction"
THREADS = 128  # of a block


@cuda.jit
def mend_divergent_reduction(values, out):
    """Add the sum of values to out[0]."""
    partial = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    partial[t] = values[i] if i < values.size else 0.0
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
# ## 4. A transpose that wastes nothing ({minutes} minutes, {points} points)
#
# New here: a tile, so that both rows and columns are read as rows. (Section 4 of the lesson; your `bank` gives the tile's
# width. You know the barrier from exercise 3, and the guard from exercise 1.)
#
# - **You get** `source` of the shape (rows, columns), and `target`, (columns, rows). Blocks have 32 x 32 threads, and the
#   grid covers `source`: `x, y = cuda.grid(2)`, where x runs along the columns. Sizes need not be multiples of 32.
# - **You return** nothing: `target[j, i]` becomes `source[i, j]`, for all of them.
# - **You may use** one tile in shared memory.
# - **It may cost** 8·rows·columns bytes: each element is read once and written once. Every warp reads 32 neighbours and
#   writes 32 neighbours, and no two lanes meet in a bank.
#
# The block that reads the tile in row 0, column 1 of tiles writes the one in row 1, column 0.

# %% [markdown] lab="hint transpose"
# Draw a matrix of 2 x 3 tiles, and its transpose. Where does the tile in row 0, column 2 go? Which row of the *target* does
# thread (tx, ty) of that block write, if its warp is to write a row?
#
# ---
#
# Read as it stands: `tile[ty, tx]` gets the thread's own element. After a barrier, swap the *blocks* for the target, not the
# threads: x is now `blockIdx.y * TILE + tx`, and y `blockIdx.x * TILE + ty`. The turn is in the tile: read `tile[tx, ty]`.
# Both accesses to global memory need a guard, each with its own matrix; the barrier stands between them, outside of both.
#
# ---
#
# ```python
# tile = cuda.shared.array((TILE, ...), float32)  # how wide?
# tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
# x, y = cuda.grid(2)
# if ...:  # there is such an element of source
#     tile[ty, tx] = ...
# ...
# x, y = ...  # where this thread writes
# if ...:  # there is such an element of target
#     target[y, x] = ...
# ```
#
# The check tells you the sectors, and the wavefronts of a request.

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
# ## 5. Matrix product by tiles ({minutes} minutes, {points} points)
#
# New here: tiles in a loop. (Section 7 of the lesson: `smaller` has the loop, and the figure has the tiles.)
#
# - **You get** A of the shape (M, K), B (K, N) and C (M, N); these need not be multiples of 16. What C holds at the start
#   means nothing. Blocks have 16 x 16 threads, and the grid covers C: `j, i = cuda.grid(2)`, where j is the column.
# - **You return** nothing: `C` becomes A·B. Each thread computes one element, and writes it once, at the end.
# - **You may use** two tiles of 16 x 16 in shared memory.
# - **It may cost** what tiles must load: each element of A once for each column of tiles of C, each of B once for each row.
#   In each step a thread brings one element of each tile, neighbours by neighbours, and few lanes meet in a bank.
#
# What lies beyond an edge counts as zero. With one tile of each, two barriers are needed in each step.

# %% [markdown] lab="hint tiled_matmul"
# Step through `show.product_by_tiles()` in the lesson. Take the thread in row ty and column tx of the block. Which element of
# A does it bring in step 0, and which in step 1? Which of B?
#
# ---
#
# With `start` = 0, 16, 32 … the thread brings A's element in its own row i and column start + tx, and B's in row start + ty
# and its own column j. If there is none, it brings 0: nobody leaves early, since all must come to the barriers. Then it adds
# 16 products. The sum stays in a variable of its own, `float32(0.0)` at first.
#
# ---
#
# ```python
# a = cuda.shared.array((TILE16, TILE16), float32)
# b = cuda.shared.array((TILE16, TILE16), float32)
# tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
# j, i = cuda.grid(2)
# total = float32(0.0)
# for start in range(0, A.shape[1], TILE16):
#     a[ty, tx] = ... if ... else 0.0
#     b[ty, tx] = ... if ... else 0.0
#     ...
#     for k in range(TILE16):
#         total += ...  # a row of one tile, a column of the other
#     ...
# if ...:
#     C[i, j] = total
# ```
#
# The check tells you when an element comes too often, and which barrier is missing.

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
# its text. The grade counts only the exercises above; the points for these are yours alone, in `lockstep progress`.

# %% [markdown] lab="readonly about-reduce_sequential"
# ## 6. Let whole warps go ({minutes} minutes, {points} points)
#
# The sum of exercise 3, by another tree. (Section 6 of the lesson: *sequential*.)
#
# In the first round threads 0 to 63 add the numbers of threads 64 to 127 to their own, in the second round threads 0 to 31
# those of 32 to 63, and so on. Now the threads at work stand side by side: warps without work have nothing to issue.
#
# - **You get** `values`, and `out` with one number, 0. Blocks have `THREADS` = 128 threads; there are as many as it takes.
# - **You return** nothing: `out[0]` becomes the sum of `values`.
# - **You may use** shared memory, barriers, and an atomic addition.
# - **It may cost** one atomic addition a block. Each thread reads its own element. The check counts how often your warps go
#   to shared memory, and looks for bank conflicts.

# %% [markdown] lab="hint reduce_sequential"
# Draw the tree for 8 threads: it stands in the lesson, below the table of sums. Who adds in round 2, and whose number?
#
# ---
#
# The step begins at half of the threads, and is halved after each round. A thread adds if its number is below the step; its
# partner is `step` further on. The barriers stand where they stood in exercise 3.
#
# ---
#
# ```python
# ...  # load, or 0.0; wait
# step = THREADS // 2
# while ...:
#     if ...:
#         partial[t] += ...
#     ...
#     step //= 2
# ```
#
# The check tells you if warps without work still go to shared memory.


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
# ## 7. Without memory ({minutes} minutes, {points} points)
#
# Within a warp nobody needs shared memory. (Section 6 of the lesson: `one_round`, and your `after_round`.)
#
# - **You get** `values`, and `out` with one number, 0. Blocks have 128 threads; there are as many as it takes.
# - **You return** nothing: `out[0]` becomes the sum of `values`.
# - **You may use** `cuda.shfl_down_sync(0xFFFFFFFF, value, offset)`; `cuda.laneid` is the lane, 0 to 31.
# - **It may cost** five rounds of shuffles, each thread with its own element. Then an atomic addition once a warp, or once a
#   block, but not once a lane.
#
# All 32 lanes must come to a shuffle. Start with `float32(0.0)` where a thread has no element: lanes exchange numbers of one
# type.

# %% [markdown] lab="hint reduce_shuffle"
# Look at the table of five rounds in the lesson. Which offsets are there? Which lane has the sum in the end?
#
# ---
#
# In each round, `value` grows by the value of the lane `offset` further on. After offsets 16, 8, 4, 2, 1 lane 0 has the sum
# of its warp. The trap: a thread beyond the end has no element, but still comes to each shuffle.
#
# ---
#
# ```python
# i = cuda.grid(1)
# value = ... if ... else float32(0.0)
# offset = 16
# while ...:
#     value += ...
#     offset //= 2
# if ...:  # one lane
#     ...
# ```
#
# The check tells you who adds too often, and which lanes are missing.


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

# %% [markdown] lab="readonly about-private_histogram"
# ## 8. A histogram of one's own ({minutes} minutes, {points} points)
#
# How often does each brightness occur in an image? If all threads add to the same counters in global memory, they wait for
# each other. So each block counts in counters of its own, and hands them over once. (Sections 5 and 6 of the lesson.)
#
# - **You get** `values`, n whole numbers from 0 to 63, and `counts`, 64 counters that are 0. Both hold int32. The
#   one-dimensional grid has blocks of 128 threads. It may have far fewer threads than there are values, or more.
# - **You return** nothing: `counts[b]` becomes the number of values that are b.
# - **You may use** a shared array of `BINS` counters, barriers, and atomic additions to shared and to global memory.
# - **It may cost** n atomic additions in shared memory, and for each block 64 in `counts`: one a counter, by
#   neighbouring threads. Each value is read once, neighbours by neighbours.
#
# A shared array holds anything at the start, and has fewer counters than the block has threads.

# %% [markdown] lab="hint private_histogram"
# Write down the four things that a block does, one below the other. Who does each of them? Between which of them must all
# threads wait?
#
# ---
#
# 64 threads set a counter to 0. All threads go through the values, in the loop of exercise 2, and add 1 to a shared counter.
# 64 threads add a counter to `counts`. Two threads may add to one counter at a time, in shared memory, too: so both additions
# are atomic. Nobody may skip a barrier.
#
# ---
#
# ```python
# mine = cuda.shared.array(BINS, int32)
# t = cuda.threadIdx.x
# if ...:
#     mine[t] = 0
# ...
# for i in range(...):
#     cuda.atomic.add(mine, ..., 1)
# ...
# if ...:
#     ...
# ```
#
# The check tells you how many requests go to global memory, and where threads do not wait.

# %% lab="readonly bins"
BINS = 64


# %% lab="answer private_histogram"
@cuda.jit
def private_histogram(values, counts):
    """counts[b] = how many values are b; each block counts in shared memory first."""
    ### BEGIN SOLUTION
    mine = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    if t < BINS:
        mine[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, values[i], 1)
    cuda.syncthreads()
    if t < BINS:
        cuda.atomic.add(counts, t, mine[t])
    ### END SOLUTION


# %% lab="tests private_histogram"
check("gpu.private_histogram", private_histogram)

# %% [markdown] lab="readonly about-fragment_matmul"
# ## 9. Matrix product by tensor cores ({minutes} minutes, {points} points)
#
# A tensor core multiplies a 16 x 16 piece of A by a 16 x 8 piece of B in one instruction of the whole warp, and adds the
# result to a 16 x 8 piece of C. (Section 8 of the lesson.) This is a function on NumPy arrays, not a kernel.
#
# - **You get** `A` (m, k) and `B` (k, n), both float16, where m and k are multiples of 16 and n is one of 8; and `mma`, the
#   instruction: `mma(a, b, c)` returns `a·b + c`, and does not change c.
# - **You return** C = A·B as float32, (m, n).
# - **You may use** `load_fragment(piece, A_PLACES)`, which takes a piece of exactly 16 x 16 apart (`B_PLACES` and `C_PLACES`:
#   16 x 8), and `store_fragment(c, C_PLACES)`, which puts one together again. An accumulator of zeros is
#   `np.zeros((32, 4), np.float32)`.
# - **It may cost** one `mma` for each pair of pieces, and one beginning from zeros for each piece of C.
#
# `a`, `b` and `c` are **fragments**: arrays of the shape (32, 8), (32, 4) and (32, 4), which say what each lane holds.

# %% [markdown] lab="hint fragment_matmul"
# Take A of 32 x 48 and B of 48 x 24. Into how many pieces is each cut? How many pieces has C? Which pieces does C's first one
# need?
#
# ---
#
# Three loops: over the rows of C by 16, over its columns by 8, and over k by 16. The accumulator begins before the innermost
# loop. The trap: `mma` returns the new sum. Whoever drops it, or begins again in each step, loses what was there.
#
# ---
#
# ```python
# for i in range(0, m, 16):
#     for j in range(0, n, 8):
#         c = ...
#         for step in range(0, k, 16):
#             a = load_fragment(A[...], A_PLACES)
#             b = load_fragment(B[...], B_PLACES)
#             ...
#         C[i : i + 16, j : j + 8] = ...
# ```
#
# The check tells you how often you called `mma`, and how often it began from zeros.

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
# ## 10. Name the illness ({minutes} minutes, {points} points)
#
# You get the counts of a kernel that you have never seen. What is wrong with it? (Sections 2 to 6 of the lesson.)
#
# - **You get** `counts`, a dict of whole numbers, summed over the launch: see below.
# - **You return** one of `"healthy"`, `"divergence"`, `"uncoalesced"`, `"bank conflicts"`, `"serial atomics"`, `"race"`.
# - **You may use** what you like. Ratios say more than numbers: kernels are small or large.
# - **It may cost** anything.
#
# | key | what it counts |
# |---|---|
# | `threads` | threads of the launch |
# | `instructions` | instructions, once for each warp |
# | `lanes` | active lanes, summed over the instructions: at most 32 for each |
# | `global_requests` | loads and stores of warps |
# | `global_bytes`, `sectors` | bytes that their lanes asked for; sectors of 32 bytes that were moved |
# | `shared_requests`, `wavefronts` | accesses of warps to shared memory; their wavefronts (of 32 float64: at least two) |
# | `barriers`, `atomics` | warps that came to a barrier; atomic operations of single lanes |
# | `races` | places where a race was found |
#
# No kernel has two illnesses. Healthy ones are small or large, work on float32 or float64, and may add atomically once a
# warp. Their last block may not be full, nor the last warp of each block. Compare with your own kernels: this cell prints
# the counts of one.

# %% [markdown] lab="hint diagnose"
# Launch your kernels of exercises 1 to 5, and the given one of exercise 3, and print `.counts()` of each. Which numbers differ
# between the healthy and the sick?
#
# ---
#
# Each illness has a ratio: atomics for each thread, bytes moved for each byte asked for, wavefronts for each request, lanes
# for each of 32 places. What is healthy: 1, or nearly? The trap is the word *nearly*: in a last block that is not full, or
# where one lane adds for its warp, some lanes are idle, and nothing is ill.
#
# ---
#
# ```python
# if counts["races"]:
#     return "race"
# if counts["atomics"] > ... * counts["threads"]:  # once a warp is healthy
#     return "serial atomics"
# if ...:  # 32 bytes a sector
#     return "uncoalesced"
# ...
# return "healthy"
# ```
#
# The check tells you the ratios of a kernel that you took for another.

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
# The library's kernels are in `lockstep.simt.kernels`. Compare them with yours: values, and counts.
#
# Next comes [unit 04, Communication](../../course/04_communication/lesson.ipynb).
