# %% [markdown] lab="readonly title"
# # Lab 02: Inside a CPU
#
# You write four kernels that numba compiles. Their machine code and their memory traffic tell what they are worth. Then
# you write the formula that says how fast a kernel can be at all, and place five kernels under it.
#
# [The lesson](../../course/02_cpu/lesson.ipynb) explains what you need. Each exercise names its section.

# %% [markdown] lab="readonly how"
# ## How to work
#
# Write each function in its cell, in place of `raise NotImplementedError()`. Run the cell below it. For a kernel it
# compiles your function, looks at the results, and then at what the compiler made of it or at what it does to memory.
# Try as often as you like. Each exercise has three folded hints.
#
# **Compile.** For the four kernels write `@njit` in the line above `def`, with options if you need them, as in
# `@njit(fastmath=True)`. What a compiled function calls must be compiled, too.
#
# **Arguments.** What your function is given stays as it is. Only `saxpy` changes its `y`.
#
# **Points.** Half of a kernel's points are for right results, the other half for how it gets them. The dot product says
# itself what its points are for. No points depend on seconds: your machine may be busy. What was measured is shown, and
# costs nothing.
#
# **Indices.** Compiled code does not look whether an index is inside its array. The check does: it runs your function in
# Python first, on small arrays.
#
# **Machine code.** The check reads it for one CPU, the same for everybody: of x86-64 one with registers of 256 bits,
# eight float32. Yours may have others, and `inner_loop` shows what the compiler makes for yours.
#
# Try things out in cells of your own, as here:

# %% lab="readonly imports"
import numpy as np
from numba import njit, prange

from lockstep import check
from lockstep.cpu.compiled import inner_loop


# %%
@njit
def sum_of_squares(x):
    s = np.float32(0)
    for i in range(x.size):
        s += x[i] * x[i]
    return s


x = np.arange(8, dtype=np.float32)
print(sum_of_squares(x))
loop = inner_loop(sum_of_squares, x)  # the innermost loop of its machine code
print(loop)
print(loop.lanes, "numbers in an instruction,", len(loop.chains), "accumulator")

# %% [markdown] lab="readonly about-saxpy"
# ## 1. saxpy ({minutes} minutes, {points} points)
#
# A step of SGD is one: the weights become a multiple of the gradient, plus the weights. (Section 3 of the lesson.)
#
# - **You get** `a`, a Python float, and `x` and `y`, float32 arrays of the same length, which may be 0.
# - **You return** nothing: $y_i$ becomes $a x_i + y_i$ for every i, in place. `x` stays as it is.
# - **You may use** `@njit`, for one core: no `parallel=True`.
# - **It may cost** nothing but the loop: the innermost one computes in float32, several numbers in each instruction, and
#   without another array. To return something all the same costs a quarter of a point.

# %% [markdown] lab="hint saxpy"
# Write the plain loop and run `print(inner_loop(saxpy, 2.0, x, x))` on the `x` above. Which bits do its additions have?
#
# ---
#
# `a` is a Python float, so a float64. What type has `a * x[i]`? It is converted for each element. Which single number
# could you convert instead, and when?
#
# ---
#
# ```python
# a32 = ...  # once, before the loop
# for i in range(x.size):
#     y[i] = ...
# ```
#
# And the decorator. The check tells you the type that your loop computes in, and how many lanes it has.


# %% lab="given saxpy"
def saxpy(a, x, y):
    """y becomes a·x + y, in place."""
    raise NotImplementedError()


# %% lab="answer saxpy"
### BEGIN SOLUTION
@njit
def saxpy(a, x, y):
    """y becomes a·x + y, in place."""
    a32 = np.float32(a)
    for i in range(x.size):
        y[i] = a32 * x[i] + y[i]


### END SOLUTION

# %% lab="tests saxpy"
check("cpu.saxpy", saxpy)

# %% [markdown] lab="readonly about-dot"
# ## 2. Dot product with four accumulators ({minutes} minutes, {points} points)
#
# Every layer of a model is made of these sums. (Sections 2 and 3 of the lesson.)
#
# - **You get** `x` and `y`, float32 arrays of the same length. It may be 0, and need not be a multiple of anything.
# - **You return** the sum of $x_i y_i$ (1 point).
# - **You may use** `@njit` and its options, for one core: no `parallel=True`. The products and sums are in a loop of
#   yours, in float32: no `np.dot`, no `x @ y`, no array made of products.
# - **It may cost** no waiting. **Accumulators** (2 points): at least 4 additions can be under way at once, also where the
#   compiler must keep the order that you wrote. **Lanes** (1 point): as you compiled it, each addition is an instruction
#   on several float32. Sums in float64 cost half a point.
#
# For the accumulators the check compiles your function once more, without `fastmath`. So what `fastmath` makes of a loop
# with one sum does not count there: keep four sums yourself. `inner_loop(dot, x, y, strict=True)` shows that loop.
#
# The picture shows your accumulators and lanes, and how fast that was in this run.

# %% [markdown] lab="hint dot"
# Take 8 elements and four sums on paper. Which elements does each sum get, if it must not jump about in memory?
#
# ---
#
# Lanes hold neighbours, so every fourth element would be awkward. Give each sum a quarter of the arrays: slices as
# `x[m : 2 * m]`, with one index that begins at 0. Up to three elements are left at the end. Each sum needs a name of its
# own: an array of sums lies in memory. And `0.0` is a float64.
#
# ---
#
# ```python
# m = x.size // 4
# x0, x1, ... = x[:m], ...
# s0 = s1 = ...  # zeros that stay float32
# for i in range(m):
#     ...  # four sums, one line each
# for i in range(..., x.size):  # what is left
#     ...
# ```
#
# The options of `@njit` are in section 3. The check counts your accumulators and your lanes, each by itself.


# %% lab="given dot"
def dot(x, y):
    """The sum of x[i]·y[i]."""
    raise NotImplementedError()


# %% lab="answer dot"
### BEGIN SOLUTION
@njit(fastmath={"reassoc", "contract", "nsz"})
def dot(x, y):
    """The sum of x[i]·y[i]."""
    m = x.size // 4
    x0, x1, x2, x3 = x[:m], x[m : 2 * m], x[2 * m : 3 * m], x[3 * m : 4 * m]
    y0, y1, y2, y3 = y[:m], y[m : 2 * m], y[2 * m : 3 * m], y[3 * m : 4 * m]
    s0 = s1 = s2 = s3 = np.float32(0)
    for i in range(m):
        s0 += x0[i] * y0[i]
        s1 += x1[i] * y1[i]
        s2 += x2[i] * y2[i]
        s3 += x3[i] * y3[i]
    for i in range(4 * m, x.size):
        s0 += x[i] * y[i]
    return (s0 + s1) + (s2 + s3)


### END SOLUTION

# %% lab="tests dot"
check("cpu.dot", dot)

# %% [markdown] lab="readonly about-blocked_matmul"
# ## 3. Blocked matrix product ({minutes} minutes, {points} points)
#
# What was fetched from memory should be used often. (Section 5 of the lesson.)
#
# - **You get** float64 arrays: `A` of shape (n, p), `B` of shape (p, m); and `block`, the elements on a side of a block.
#   It need not divide n, p or m, and may be larger than they are. The caller says how wide a block is.
# - **You return** C = A·B, a new float64 array of shape (n, m).
# - **You may use** `@njit` and loops of your own over single elements: no `@`, no `np.dot`. Expressions on whole rows or
#   blocks are allowed, but they compile slowly.
# - **It may cost** 2·(2·n·p·m/block + n·p + p·m + n·m)/8 = 3,280 misses: more than twice what blocks need.
#
# The check counts them in Python, in a cache of 2 KiB with lines of 64 bytes: A is 24 × 40 then, B is 40 × 40, and a
# block is 8 wide. 2 KiB is small on purpose: the same happens to large matrices in a large cache. `np.empty` leaves in an
# array whatever lay there before. The picture shows your misses by array.

# %% [markdown] lab="hint blocked_matmul"
# Draw A, B and C of 4 × 4 and cut each into blocks of 2 × 2. Which blocks of A and B does the upper left block of C need?
#
# ---
#
# Block (I, J) of C is the sum over K of block (I, K) of A times block (K, J) of B. So three loops go from block to block,
# and three more stay inside one block of each matrix. As in the lesson's second program, the innermost walks along a
# row. A block at the edge may be cut off.
#
# ---
#
# ```python
# C = ...
# for i0 in range(0, n, block):
#     for k0 in ...:
#         for j0 in ...:
#             for i in range(i0, min(..., n)):
#                 for k in ...:
#                     for j in ...:
#                         C[i, j] += ...
# ```
#
# The check tells you your misses, and those of which array are too many.


# %% lab="given blocked_matmul"
def blocked_matmul(A, B, block):
    """The matrix product of A and B, block by block."""
    raise NotImplementedError()


# %% lab="answer blocked_matmul"
### BEGIN SOLUTION
@njit
def blocked_matmul(A, B, block):
    """The matrix product of A and B, block by block."""
    n, p, m = A.shape[0], A.shape[1], B.shape[1]
    C = np.zeros((n, m))
    for i0 in range(0, n, block):
        for k0 in range(0, p, block):
            for j0 in range(0, m, block):
                for i in range(i0, min(i0 + block, n)):
                    for k in range(k0, min(k0 + block, p)):
                        a = A[i, k]
                        for j in range(j0, min(j0 + block, m)):
                            C[i, j] += a * B[k, j]
    return C


### END SOLUTION

# %% lab="tests blocked_matmul"
check("cpu.blocked_matmul", blocked_matmul)

# %% [markdown] lab="readonly about-parallel_sum"
# ## 4. A parallel sum without false sharing ({minutes} minutes, {points} points)
#
# Several cores add up one array, and don't get into each other's way. (Sections 7 and 8 of the lesson; your
# `first_element` says where a worker begins.)
#
# - **You get** `x`, a float64 array, and `workers`. Its length may be 0, may be less than `workers`, and need not be a
#   multiple of it.
# - **You return** the sum of `x`, computed by `workers` threads.
# - **You may use** `@njit(parallel=True)` and a `prange` over the workers: it has `workers` turns. A `prange` over the
#   elements is divided among all the threads that numba has, so it is not accepted here.
# - **It may cost** few transfers of a cache line: 4 for each worker. The work is even: neither one worker nor what
#   follows the `prange` takes all that is left over.
#
# No **race**: within the `prange`, no two workers write to the same element of an array. On a plain number `total += …`
# is safe: numba gives each thread a total of its own, and adds them up. The picture shows the lines that your workers
# write to.

# %% [markdown] lab="hint parallel_sum"
# Take the lesson's program of section 8, with 2 workers and 4 numbers. Write down each read and each write of `partial`.
# Which of them does a worker need?
#
# ---
#
# A variable inside the `prange` belongs to the worker. Add up there, and write to an array once, at the end. After the
# `prange`, add up what the workers wrote. Or give each worker's element a line of its own.
#
# ---
#
# ```python
# partial = np.zeros(workers)
# for w in prange(workers):
#     s = 0.0
#     for i in range(..., ...):  # from its first element to the next worker's
#         ...
#     ...
# ```
#
# The decorator needs an option, and the sum is still to be made. The check tells you how often a line moved, and how
# many elements each worker read.


# %% lab="given parallel_sum"
def parallel_sum(x, workers):
    """The sum of x, each worker adding up a piece of its own."""
    raise NotImplementedError()


# %% lab="answer parallel_sum"
### BEGIN SOLUTION
@njit(parallel=True)
def parallel_sum(x, workers):
    """The sum of x, each worker adding up a piece of its own."""
    partial = np.zeros(workers)
    for w in prange(workers):
        s = 0.0
        for i in range(w * x.size // workers, (w + 1) * x.size // workers):
            s += x[i]
        partial[w] = s
    total = 0.0
    for w in range(workers):
        total += partial[w]
    return total


### END SOLUTION

# %% lab="tests parallel_sum"
check("cpu.parallel_sum", parallel_sum)

# %% [markdown] lab="readonly extra"
# ## Extra
#
# What follows is for those who want more. The cells of each exercise are folded: open them by the button below
# its text. The grade counts only the exercises above; the points for these are yours alone, in `lockstep progress`.

# %% [markdown] lab="readonly about-roofline"
# ## 5. The roofline ({minutes} minutes, {points} points)
#
# How fast can a kernel be at most? (Section 6 of the lesson.)
#
# - **You get** `flops`, operations in float32, and `nbytes`, bytes to and from memory. Either may be 0: a copy computes
#   nothing, and a kernel that moves nothing is limited by computing. `device` is a machine.
# - **You return** a pair: the FLOP/s that the kernel can reach, and what limits it, `"memory"` or `"compute"`.
# - **You may use** `device.peak("float32")`, in FLOP/s, and `device.memory_bandwidth`, in bytes per second.
# - **It may cost** what you like: it is a formula.
#
# The device computes while it moves data. So the lower roof decides. The roofs meet at peak / bandwidth FLOP per byte:
# the **ridge**. To the left of it the memory limits, to the right the computing.

# %% [markdown] lab="hint roofline"
# A device with 100 GFLOP/s and 20 GB/s; a kernel with 2 operations for 8 bytes. How many GFLOP/s does the memory let it
# do?
#
# ---
#
# The memory lets it do intensity × bandwidth, the intensity being operations for each byte. The smaller one of that and
# the peak holds. What if no byte is moved?
#
# ---
#
# ```python
# peak = ...
# if ...:
#     return peak, "compute"
# slanted = ...
# return ... if slanted < peak else ...
# ```
#
# The check tells you for which kernel you are off, and by how much.


# %% lab="answer roofline"
def roofline(flops, nbytes, device):
    """(FLOP/s at most, "memory" or "compute")."""
    ### BEGIN SOLUTION
    peak = device.peak("float32")
    if nbytes == 0:
        return peak, "compute"
    slanted = flops / nbytes * device.memory_bandwidth
    return (slanted, "memory") if slanted < peak else (peak, "compute")
    ### END SOLUTION


# %% lab="tests roofline"
check("cpu.roofline", roofline)

# %% [markdown] lab="readonly about-place_kernels"
# ## 6. Five kernels on the roofline ({minutes} minutes, {points} points)
#
# Which kernels will a faster memory help, and which a faster core? (Section 6 of the lesson.)
#
# - **You get** `n` and a `device` as above.
# - **You return** a dict: for each of the five names a pair of its arithmetic intensity in FLOP per byte, and what limits
#   it on the device, `"memory"` or `"compute"`. Do not round the intensities. Where both take equally long, either name
#   is right.
# - **You may use** your `roofline`, and paper.
# - **It may cost** what you like.
#
# | name | what it computes |
# |---|---|
# | `"saxpy"` | y = a·x + y, with x and y of n elements |
# | `"dot"` | the sum of x·y, n elements each. Its result, one number, does not count |
# | `"polynomial"` | y = ((c₉x + c₈)x + …)x + c₀ for each of n elements of x: degree 9, by Horner's rule |
# | `"matvec"` | y = A·x, with A of n × n, x and y of n elements |
# | `"matmul"` | C = A·B, all n × n |
#
# A product is one operation and a sum is one. A sum of n products counts as n products and n sums. All numbers are
# float32. Every element that is read counts once, and every element that is written counts once: what has been read stays
# in the cache. Coefficients and `a` do not count.

# %% [markdown] lab="hint place_kernels"
# Take n = 4 and saxpy. How many operations is that? How many numbers are read, how many are written?
#
# ---
#
# Make a table of operations and bytes in terms of n. Mind y in saxpy: it is read *and* written. Horner's rule has a
# product and a sum for each degree. The ridge of the device says which roof is lower.
#
# ---
#
# ```python
# counts = {
#     "saxpy": (2 * n, 4 * ...),
#     "dot": ...,
#     "polynomial": ...,
#     "matvec": (..., 4 * (n**2 + ...)),
#     "matmul": ...,
# }
# ridge = ...
# return {name: (..., ...) for name, (flops, nbytes) in counts.items()}
# ```
#
# The check names the kernels that are off.


# %% lab="answer place_kernels"
def place_kernels(n, device):
    """For each of the five kernels: (FLOP per byte, "memory" or "compute")."""
    ### BEGIN SOLUTION
    counts = {
        "saxpy": (2 * n, 4 * 3 * n),
        "dot": (2 * n, 4 * 2 * n),
        "polynomial": (18 * n, 4 * 2 * n),
        "matvec": (2 * n**2, 4 * (n**2 + 2 * n)),
        "matmul": (2 * n**3, 4 * 3 * n**2),
    }
    ridge = device.peak("float32") / device.memory_bandwidth
    return {name: (w / q, "memory" if w / q < ridge else "compute") for name, (w, q) in counts.items()}
    ### END SOLUTION


# %% lab="tests place_kernels"
check("cpu.place_kernels", place_kernels)

# %% [markdown] lab="readonly next"
# ## What now?
#
# Draw your own roofline: measure the roofs of your core with `measure_roofs`, time your `dot` on small and on large
# arrays, and place both with `show.roofline`. Section 6 of the lesson has the calls. How far from its roof is each, and
# why?
#
# When all is solved, compare with the library: its kernels are in `pkg/lockstep/cpu`, each on one page.
#
# Next comes [unit 03, Inside a GPU](../../course/03_gpu/lesson.ipynb).
