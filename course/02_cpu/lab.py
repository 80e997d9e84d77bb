# %% [markdown] lab="readonly title"
# # Lab 02: Inside a CPU
#
# You write four kernels that numba compiles. Their machine code and their memory traffic tell what they are worth. Then
# you write the formula that says how fast a kernel can be at all, and place five kernels under it.
#
# [The lesson of this unit](../../course/02_cpu/lesson.ipynb) explains what you need.

# %% [markdown] lab="readonly how"
# ## How to work
#
# - Write each function in its cell, in place of `raise NotImplementedError()`. The names of the functions stay.
# - For the four kernels, write `@njit` in the line above `def`, with options if you need them, as in
#   `@njit(fastmath=True)`.
# - Run the cell below it. It compiles your function, looks at the results, and then at what the compiler made of it or
#   at what it does to memory. It says what it saw, and how many points that gives. Try as often as you like.
# - No points depend on seconds: your machine may be busy. What was measured is shown, and costs nothing.
# - Half of the points of a kernel are for right results, the other half for how it gets them. The dot product says
#   itself what its points are for.
# - You may write helpers in cells of their own. What a compiled function calls must be compiled, too.
# - Compiled code does not look whether an index is inside its array. The check does: it runs your function in Python
#   first, on small arrays.
# - The check reads machine code for one CPU, the same for everybody: of x86-64 one with registers of 256 bits, eight
#   float32. Yours may have others, and `inner_loop` shows what the compiler makes for yours.
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
# ## 1. saxpy (15 minutes)
#
# `saxpy(a, x, y)` adds a·x to y: $y_i \leftarrow a x_i + y_i$ for every i.
#
# - `x` and `y` are float32 arrays of the same length, which may be 0. `a` is a Python float.
# - Write into `y`, in place. `x` stays as it is. What you return is not looked at.
# - Compile it: `@njit`, for one core: no `parallel=True`.
# - The innermost loop is to compute in float32, several numbers in each instruction, and without another array.
#
# Hint: what type has `a * x[i]`?


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
# ## 2. Dot product with four accumulators (30 minutes)
#
# `dot(x, y)` returns the sum of $x_i y_i$.
#
# - `x` and `y` are float32 arrays of the same length. It may be 0, and it need not be a multiple of anything.
# - Compile it with `@njit`, with the options you need. It is for one core: no `parallel=True`.
# - **Accumulators** (2 points): at least 4 additions can be under way at once, also where the compiler must keep the
#   order that you wrote. So keep four sums that do not need each other. The check compiles your function once more,
#   without `fastmath`, and counts them there. What `fastmath` makes of a loop with one sum does not count here.
# - **Lanes** (1 point): as you compiled it, each addition is an instruction on several float32.
#   `fastmath={"reassoc", "contract", "nsz"}` allows the compiler to do that. (`fastmath=True` is accepted, too. It also
#   promises that there is no NaN.) The last point is for the right sum.
# - `inner_loop(dot, x, y)` shows you the loop as you compiled it, and `inner_loop(dot, x, y, strict=True)` the one
#   without `fastmath`.
# - The products and sums are in a loop of yours, in float32: `np.float32(0)` is a zero that stays float32. No
#   `np.dot`, no `x @ y`, no array made of products.
#
# Hint: give each accumulator a quarter of the arrays, `x[:m]`, `x[m : 2 * m]`, …, with an index that begins at 0. Lanes
# hold neighbours, so every fourth element would be awkward. And mind the last elements.
#
# The picture shows your accumulators and lanes, and how fast that was in this run.


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
# ## 3. Blocked matrix product (30 minutes)
#
# `blocked_matmul(A, B, block)` returns the matrix product C = A·B.
#
# - `A` is float64 of shape (n, p), `B` of shape (p, m). Return a new float64 array of shape
#   (n, m), which begins as zeros: `np.empty` leaves in it whatever lay there before.
# - `block` is the number of elements on a side of a block. It need not divide n, p or m, and may be larger than they
#   are. It is the caller who says how wide a block is.
# - Compile it: `@njit`. Write the loops yourself, over single elements: no `@`, no `np.dot`. Expressions on whole rows
#   or blocks are allowed, but they compile slowly.
# - **Traffic**: the check runs your function in Python on arrays that write down every access, and counts the misses of
#   a cache of 2 KiB with lines of 64 bytes. A is 24 × 40 then, B is 40 × 40, and a block is 8 wide. At most
#   2·(2·n·p·m/block + n·p + p·m + n·m)/8 = 3,280 misses are allowed: twice what blocks need.
#
# The picture shows your misses by array. (2 KiB is small on purpose: the same happens to large matrices in a large
# cache.)
#
# Hint: three loops go from block to block, three more stay inside one block of each matrix. The innermost walks along a
# row.


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
# ## 4. A parallel sum without false sharing (25 minutes)
#
# `parallel_sum(x, workers)` returns the sum of `x`, computed by `workers` threads.
#
# - `x` is a float64 array. Its length may be 0, may be less than `workers`, and need not be a multiple of it.
# - `prange` is a `range` whose turns are divided among threads: the first thread gets the first turns, and so on. It
#   works in a function that is compiled with `@njit(parallel=True)`.
# - The `prange` goes over the workers: it has `workers` turns, whatever that number is. A `prange` over the elements is
#   divided among all the threads that numba has, so it is not accepted here.
# - The work is divided evenly among the workers, also if they do not divide the length: neither one worker nor what
#   follows the `prange` takes all that is left over.
# - No **race**: within the `prange`, no two workers write to the same element of an array. On a plain number `total +=
#   …` is safe: numba gives each thread a total of its own, and adds them up. On an element of an array it is a race.
# - No **false sharing**: workers do not write in turns to the same cache line of 64 bytes. A few transfers at the end
#   are fine: up to 4 for each worker.
#
# Hint: worker w takes the elements from `w * x.size // workers` to `(w + 1) * x.size // workers`. Where does it keep
# its sum meanwhile?
#
# The picture shows the cache lines that your workers write to.


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
# its text. The grade stands on the exercises above; the points of these are yours alone, in `lockstep progress`.

# %% [markdown] lab="readonly about-roofline"
# ## 5. The roofline (15 minutes)
#
# `roofline(flops, nbytes, device)` says how fast a kernel can be at most. Return a pair: the FLOP/s that it can reach,
# and what limits it, `"memory"` or `"compute"`.
#
# - `flops` operations in float32, `nbytes` bytes to and from memory. Either may be 0: a copy computes nothing, and a
#   kernel that moves nothing is limited by computing.
# - `device.peak("float32")` is the peak in FLOP/s, `device.memory_bandwidth` is in bytes per second.
# - The device computes while it moves data. So the lower roof decides.
#
# The roofs meet at peak / bandwidth FLOP per byte: the **ridge**. To the left of it the memory limits, to the right the
# computing.


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
# ## 6. Five kernels on the roofline (20 minutes)
#
# `place_kernels(n, device)` returns a dict: for each of these five names a pair of its arithmetic intensity in FLOP per
# byte, and what limits it on the device, `"memory"` or `"compute"`.
#
# | name | what it computes |
# |---|---|
# | `"saxpy"` | y = a·x + y, with x and y of n elements |
# | `"dot"` | the sum of x·y, n elements each. Its result, one number, does not count |
# | `"polynomial"` | y = ((c₉x + c₈)x + …)x + c₀ for each of n elements of x: degree 9, by Horner's rule |
# | `"matvec"` | y = A·x, with A of n × n, x and y of n elements |
# | `"matmul"` | C = A·B, all n × n |
#
# Count like this, in terms of n:
#
# - A product is one operation and a sum is one, also where one instruction does both. A sum of n products counts as n
#   products and n sums.
# - All numbers are float32. Every element that is read counts once, and every element that is written counts once. What
#   has been read stays in the cache from then on. Coefficients and `a` do not count.
#
# Where memory and computing take equally long, either name is right. Do not round the intensities.


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
# arrays, and place both with `show.roofline`. The lesson has the calls. How far from its roof is each, and why?
#
# When all is solved, compare with the library: its kernels are in `pkg/lockstep/cpu`, each on one page.
#
# Next comes [unit 03, Inside a GPU](../../course/03_gpu/lesson.ipynb).
