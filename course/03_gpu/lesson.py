# %% [markdown]
# # 03 Inside a GPU
#
# *About an hour for sections 1 to 10, which the lab needs. Sections 11 to 14 are for those who want to know more.*
#
# A GPU runs tens of thousands of threads. They do not run one by one: 32 of them share every instruction. What
# happens when these 32 want different things? And what else do they share without being asked?
#
# You need no GPU here. Start with a number of your own.

# %%
from lockstep import predict, reconcile

# %% lesson="predict gpu-mandelbrot-lanes"
predict(
    "gpu-mandelbrot-lanes",
    "A kernel draws the Mandelbrot set, one thread a pixel. A thread repeats a short loop until its point escapes: "
    "after 1 turn, or after 40, at most 50. 32 threads always go through the loop together. What share of the "
    "threads does useful work, on average?",
    unit="%",
)

# %% [markdown]
# Commit it. In a few minutes you will count it.
#
# In the course's formula $A_t = F(A_{t-1}, \Delta(\text{data}, A_{t-1}))$ this unit looks inside $\Delta$: the
# arithmetic that computes an update, on one device.

# %% [markdown]
# ## 1. Much arithmetic, little waiting room
#
# A CPU core spends most of its area on making *one* program fast: large caches, branch prediction, reordering. A GPU
# spends it on arithmetic. It has small caches, and it hides the time of a memory access in another way: while some
# threads wait, others compute. This is **stream processing**. The same small program runs over a long stream of data,
# and no element needs another one's result.
#
# Training a network is such work: the same operation on millions of numbers. How much arithmetic does a GPU have for
# it? Mind the difference: your cores are measured, the GPUs' numbers are published peaks.

# %%
from lockstep import machines
from lockstep.launch.survey import survey

here = survey()
for cores in sorted({1, here.cores}):
    rate = cores * here.device.flops["float32"] / 1e12
    print(f"{f'{cores} of your cores':<24} float32 {rate:6.2f} TFLOP/s")
for name in ("dgx-a100", "dgx-h100"):
    device = machines.find(name).device
    print(
        f"{device.name:<24} float32 {device.flops['float32'] / 1e12:6.1f} TFLOP/s   bfloat16 "
        f"{device.flops['bfloat16'] / 1e12:7.1f} TFLOP/s   memory {device.memory_bandwidth / 1e12:.2f} TB/s"
    )

# %% [markdown]
# ## 2. Kernel, thread, block, grid
#
# A **kernel** is the small program. You write it for *one* thread. A **block** is up to 1,024 threads that can wait
# for each other and share a little fast memory. The **grid** is all the blocks. Each thread asks where it is, and
# takes its element.
#
# A GPU has many **streaming multiprocessors** (SM): an H100 SXM has 132 (NVIDIA's H100 whitepaper). A block runs on one
# SM from beginning to end. The blocks of a grid are shared out among all SMs, in no particular order.

# %%
import numpy as np
from numba import cuda, float32

from lockstep.simt import launch


@cuda.jit
def add_one(values):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x  # cuda.grid(1) says the same
    if i < values.size:
        values[i] += 1


values = np.zeros(100, dtype=np.float32)
result = launch(add_one, 2, 64, values)  # 2 blocks of 64 threads
print(values.sum(), "of", values.size)

# %% [markdown]
# This is unmodified source of `numba.cuda`. On a GPU you would write `add_one[2, 64](values)`. Here `launch` reads
# the same source and runs it on a **warp machine**: a model of the hardware that counts what each line costs.
#
# 128 threads ran, for 100 elements. The guard `if i < values.size` keeps the other 28 away. Without it, they would
# write to memory that belongs to somebody else. A GPU may let them. The warp machine does not:


# %%
@cuda.jit
def unguarded(values):
    i = cuda.grid(1)
    values[i] += 1


for finding in launch(unguarded, 2, 64, np.zeros(100, dtype=np.float32)).findings:
    print(finding)

# %% [markdown]
# ## 3. The warp
#
# The hardware cuts each block into **warps** of 32 threads, its **lanes**. One instruction goes to all lanes that are
# at the same place. When lanes disagree at an `if`, the warp goes both ways, one after the other. The lanes that do not
# belong there are switched off, and wait. This is **divergence**.
#
# The warp machine brings lanes together right behind the `if`. A GPU mostly does, too. But since Volta (2017) they may
# go on apart, until `cuda.syncwarp()` (CUDA C++ Programming Guide, "Independent Thread Scheduling").


# %%
@cuda.jit
def two_ways(values):
    i = cuda.grid(1)
    if i % 2 == 0:
        values[i] = 3 * values[i] + 1
    else:
        values[i] = 5 * values[i] - 1


result = launch(two_ways, 1, 32, np.ones(32, dtype=np.float32))
print(result.table())

# %% [markdown]
# Read the column of lanes: both branches were issued, each with half of the lanes. The other lines are for all, so
# the total is more than one half. (Sections 5 to 8 explain the other columns. `float64` counts arithmetic in double
# precision, where most GPUs are slow: `3 * values[i]` multiplies a whole number by a float32, and numba takes float64
# for that. `float32(3) * values[i]` would stay in float32.)
#
# Now let whole warps disagree instead of neighbours. The work is the same:


# %%
@cuda.jit
def two_ways_by_warp(values):
    i = cuda.grid(1)
    if (i // 32) % 2 == 0:
        values[i] = 3 * values[i] + 1
    else:
        values[i] = 5 * values[i] - 1


for kernel in (two_ways, two_ways_by_warp):
    result = launch(kernel, 1, 64, np.ones(64, dtype=np.float32))
    total = result.total()
    print(f"{kernel.__name__:<18} {total.instructions:>4} instructions, lanes at work {total.lane_efficiency:.0%}")

# %% [markdown]
# Step through one warp yourself. Filled lanes are on; the arrows show which addresses they touch.

# %%
from lockstep import show

show.warp(launch(two_ways, 1, 32, np.ones(32, dtype=np.float32), record=(0, 0)))

# %% [markdown]
# ## 4. Your prediction, counted
#
# Here is the kernel of the question. Loops diverge like branches: a warp stays in the loop until its *last* lane is
# done.


# %%
@cuda.jit
def mandelbrot(turns):
    column, row = cuda.grid(2)
    if column < turns.shape[1] and row < turns.shape[0]:
        cr = -2 + 3 * column / turns.shape[1]
        ci = -1.25 + 2.5 * row / turns.shape[0]
        zr = 0.0
        zi = 0.0
        count = 0
        for turn in range(50):
            zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
            if zr * zr + zi * zi > 4:
                break
            count += 1
        turns[row, column] = count


turns = np.zeros((64, 96), dtype=np.int32)
drawn = launch(mandelbrot, (3, 8), (32, 8), turns)  # a warp is a row of 32 pixels

# %% [markdown]
# One thing can be worked out from the picture alone. If all that counted were turns of the loop, a warp would pay for
# its slowest lane: the turns of all lanes, over 32 times those of the slowest. Below, "simulated" is what the warp
# machine counted, and "measured" is worked out in this way.

# %% lesson="after gpu-mandelbrot-lanes"
rows = np.minimum(turns + 1, 50).reshape(64, 3, 32)  # (row, warp, lane): turns begun
by_hand = rows.sum() / (32 * rows.max(axis=2).sum())
reconcile("gpu-mandelbrot-lanes", simulated=100 * drawn.total().lane_efficiency, measured=100 * by_hand)

# %% [markdown] lesson="reason gpu-mandelbrot-lanes"
# **Our reason.** Where neighbours escape at about the same time, a warp's lanes stop together. Along the border of the set
# they don't, and one lane that stays in holds the other 31. The two numbers differ a little because a warp also issues
# instructions outside of the loop, and there all 32 lanes work.

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(6, 3.6))
axes.imshow(turns, cmap="viridis")
axes.set(title="turns until a point escapes", xlabel="column", ylabel="row")
figure.tight_layout()

# %% [markdown]
# Which 32 pixels make a warp? In a block of 32 x 8 they are a row. In a block of 8 x 8 they are a patch of 8 x 4, and
# points in a patch escape at similar times.

# %%
for block in ((32, 8), (16, 16), (8, 8), (4, 8)):
    result = launch(mandelbrot, (96 // block[0], 64 // block[1]), block, turns)
    print(f"block {block[0]:>2} x {block[1]:<2}  lanes at work {result.total().lane_efficiency:.0%}")

# %% [markdown]
# ## 5. Memory comes in sectors
#
# A warp's load is one request for 32 addresses. Memory answers in **sectors** of 32 bytes, four of which make a line
# of 128 bytes. If 32 lanes read 32 neighbouring floats, that is 128 bytes: 4 sectors, and nothing is wasted. Such an
# access is **coalesced**. What if each lane reads every second float, every fourth, every eighth?


# %%
@cuda.jit
def strided(values, out, stride):
    i = cuda.grid(1)
    out[i] = values[i * stride]


values, out = np.zeros(32 * 64, dtype=np.float32), np.zeros(32, dtype=np.float32)
for stride in (1, 2, 4, 8, 16, 32):
    result = launch(strided, 1, 32, values, out, stride)
    loads = result.total().sectors - 4  # the store into out is coalesced: 4 sectors
    print(
        f"stride {stride:>2}: {loads:>2} sectors for 128 useful bytes: {128 / (32 * loads):.0%} of what is moved is "
        f"used"
    )

# %% [markdown]
# From stride 8 on, every lane has a sector for itself. The kernel moves 8 times the bytes that it uses. Strides come
# from data layout: a list of records with 8 floats each, of which a kernel reads one field. Or a matrix that is read
# down its columns.
#
# ## 6. Shared memory, and its banks
#
# Each block has some **shared memory**, far faster than global memory: up to 48 KB, or if a program asks for more, up
# to 163 KB on an A100 and 227 KB on an H100 (CUDA C++ Programming Guide, technical specifications). It is cut into 32
# **banks**, one word of 4 bytes wide. In one go, a **wavefront**, each bank serves one word. Two lanes that want
# different words of one bank take two wavefronts: a **bank conflict**. Lanes that want the *same* word share it.
#
# A transpose shows all of this. Reading rows is coalesced, writing columns is not:

# %%
from lockstep.simt.kernels import naive_transpose

source, target = np.arange(64 * 64, dtype=np.float32).reshape(64, 64), np.zeros((64, 64), dtype=np.float32)
print(launch(naive_transpose, (2, 2), (32, 32), source, target).table())

# %% [markdown]
# 18 sectors a request is the mean of 4 for the read and 32 for the write. So a block takes a detour. It reads a tile
# by rows into shared memory, and writes it out by rows as well; the turn happens in shared memory. There it reads a
# *column* of the tile. How wide is a tile's row in banks?


# %%
def tiled_transpose(width):
    @cuda.jit
    def turn(source, target):
        tile = cuda.shared.array((32, width), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        x, y = cuda.grid(2)
        tile[ty, tx] = source[y, x]
        cuda.syncthreads()
        target[cuda.blockIdx.x * 32 + ty, cuda.blockIdx.y * 32 + tx] = tile[tx, ty]

    return turn


for width in (32, 33):
    target[:] = 0
    result = launch(tiled_transpose(width), (2, 2), (32, 32), source, target)
    total = result.total()
    print(
        f"tile 32 x {width}: right {np.array_equal(target, source.T)}, {total.sectors_per_request:.0f} sectors a "
        f"request, {total.wavefronts_per_request:.1f} wavefronts a request"
    )

# %% [markdown]
# Half of the requests to the tile are writes of a row: one wavefront each. The others read a column. With rows of 32
# words, a column lies in one bank: 32 wavefronts. The mean is 16.5. One unused word at the end of each row moves the
# next row by one bank, and the conflict is gone. You write this kernel, for every size of matrix, in the lab.
#
# ## 7. Waiting for each other
#
# Warps of a block run in no particular order. `cuda.syncthreads()` is a **barrier**: no thread goes on before all
# threads of the block have come. Leave it out, and one warp reads what another has not written. This kernel reverses
# a block's numbers:


# %%
@cuda.jit
def reverse(values):
    tile = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    tile[t] = values[t]
    values[t] = tile[127 - t]


result = launch(reverse, 1, 128, np.arange(128, dtype=np.float32))
for finding in result.findings:
    print(finding)

# %% [markdown]
# On a GPU this **race** may go right a thousand times. The warp machine watches every word: who wrote it, who read it,
# and whether a barrier lies between.
#
# A barrier that not everybody reaches is as bad:


# %%
@cuda.jit
def leaves_early(values):
    tile = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    if t < values.size:
        tile[t] = values[t]
        cuda.syncthreads()
        values[t] = tile[values.size - 1 - t]


result = launch(leaves_early, 1, 128, np.arange(100, dtype=np.float32))
for finding in result.findings:
    print(finding)

# %% [markdown]
# ## 8. Counting together: atomics
#
# Many threads want to add to one number. `count[0] += 1` reads, adds, and writes. In between, another thread may do
# the same, and one of the two additions is lost. Within a warp it happens every time:


# %%
@cuda.jit
def count_badly(values, count):
    i = cuda.grid(1)
    if i < values.size and values[i] > 0:
        count[0] += 1


@cuda.jit
def count_well(values, count):
    i = cuda.grid(1)
    if i < values.size and values[i] > 0:
        cuda.atomic.add(count, 0, 1)


values = np.ones(1024, dtype=np.float32)
for kernel in (count_badly, count_well):
    count = np.zeros(1, dtype=np.int32)
    result = launch(kernel, 8, 128, values, count)
    print(f"{kernel.__name__:<12} counted {count[0]:>4} of 1024;  {[finding.kind for finding in result.findings]}")

# %% [markdown]
# An **atomic** addition cannot be torn apart. But 32 lanes that add to one address are served one after the other. So
# sum first, as a tree, and add once. That is the next topic.
#
# ## 9. A sum, three ways
#
# All three kernels below compute the same sum of 128 numbers for each block. They differ in *which* threads add.

# %%
import inspect

from lockstep.simt.kernels import reduction

print(inspect.getdoc(reduction))

# %%
numbers = np.ones(1024, dtype=np.float32)
print(f"{'':<20}{'sum':>6}{'instructions':>14}{'lanes':>7}{'shared':>8}{'barriers':>10}")
for kernel in (reduction.reduce_divergent, reduction.reduce_sequential, reduction.reduce_shuffle):
    out = np.zeros(1, dtype=np.float32)
    r = launch(kernel, 8, 128, numbers, out).total()
    begin = f"{kernel.__name__:<20}{out[0]:>6.0f}{r.instructions:>14}{r.lane_efficiency:>7.0%}"
    print(f"{begin}{r.shared_requests:>8}{r.barriers:>10}")

# %% [markdown]
# The third one uses **shuffles**: lanes of a warp read one another's registers. There is no memory and no barrier.
# You write these in the lab.
#
# This is a reduce, the one that unit 04 builds from messages. Lanes take the place of ranks, and shuffles that of
# send and receive.

# %% [markdown]
# ## 10. Tensor cores
#
# Most arithmetic of a network is matrix products. So GPUs have a unit that does nothing else. A **tensor core**
# computes $D = AB + C$ for small matrices of a fixed size. Programmers see products of 16 x 16 x 16, 8 x 32 x 16 or 32
# x 8 x 16, in half precision, with a sum in single precision. One machine instruction, `mma`, does 16 x 8 x 16 of it.
# It is an instruction of the *whole warp*: 32 lanes hand in their registers together. An H100 also has a larger one,
# `wgmma`: four warps issue it together, it reads matrices from shared memory, and the warps go on and wait for it later
# (PTX ISA).
#
# No lane holds a matrix. Each holds a **fragment**. Here is who holds which element of a 16 x 16 matrix A:

# %%
from lockstep.simt import tensor_core

rows, columns = tensor_core.A_PLACES  # (32 lanes, 8 registers)
owner = np.zeros((16, 16), dtype=int)
owner[rows, columns] = np.arange(32)[:, None]

figure, axes = plt.subplots(figsize=(5.2, 5))
axes.imshow(owner, cmap="twilight")
for row in range(16):
    for column in range(16):
        axes.text(
            column,
            row,
            owner[row, column],
            ha="center",
            va="center",
            fontsize=7,
            color="white",
            bbox={"boxstyle": "round,pad=0.1", "color": "#00000066", "lw": 0},
        )
axes.set(title="the lane that holds each element of A", xlabel="column", ylabel="row")
figure.tight_layout()

# %%
per_instruction = tensor_core.M * tensor_core.N * tensor_core.K
print(f"One instruction multiplies and adds {per_instruction:,} times; an ordinary one of a warp, 32 times.")

# %% [markdown]
# Numbers go in with 16 bits. What matters is how the *sum* is kept. Half precision has 11 binary digits. So from
# 2,048 on, adding 1 changes nothing: a large sum swallows small terms. Add the same products once into float32, once
# into float16:

# %%
random = np.random.default_rng(0)
lengths = [2**k for k in range(5, 15)]
errors = {np.float32: [], np.float16: []}
for n in lengths:
    pairs = [(random.random(n).astype(np.float16), random.random(n).astype(np.float16)) for _ in range(8)]
    for accumulator in errors:
        relative = [tensor_core.dot(x, y, accumulator) / (x.astype(float) @ y.astype(float)) - 1 for x, y in pairs]
        errors[accumulator].append(np.sqrt(np.mean(np.square(relative))))

figure, axes = plt.subplots(figsize=(6.5, 3.6))
axes.loglog(lengths, errors[np.float32], "o-", color="#0072B2", label="sum in float32")
axes.loglog(lengths, errors[np.float16], "s-", color="#D55E00", label="sum in float16")
axes.set(
    xlabel="terms of the sum", ylabel="relative error, root mean square of 8", title="float16 in, two accumulators"
)
axes.legend()
figure.tight_layout()

# %% [markdown]
# Both lose something at each of the n/16 steps: float32 the eighth digit, float16 the fourth. That is why mixed
# precision keeps its sums in float32.

# %% [markdown]
# ## What professionals use
#
# - **Nsight Compute** (`ncu`) counts the same things on the real hardware: sectors per request, wavefronts, active
#   threads per instruction. You know its vocabulary now.
# - **CuPy** and **PyTorch** bring kernels that others have tuned. `torch.compile` writes new ones, in **Triton**, a
#   language in which you program a block instead of a thread.
# - Write a kernel of your own when no library has it, and count before you tune.
#
# Go on with [the lab of this unit](../../labs/03_gpu/lab.ipynb). You write seven kernels, feed a tensor core, and read
# the counts of a kernel that you have never seen. Then [unit 04](../04_communication/lesson.ipynb) leaves the chip:
# there, the threads are machines, and memory is no longer shared.

# %% [markdown]
# # To know more
#
# ## 11. Enough warps to hide the waiting
#
# A load from memory takes hundreds of cycles. A GPU fills that time: each SM holds many warps
# (an A100 or H100 up to 64: CUDA C++ Programming Guide, technical specifications), and in every cycle it picks some
# that can go on. **Occupancy** is the share of these places that are taken. A block needs threads, registers and shared
# memory. What runs out first sets the limit:

# %%
from lockstep.simt.occupancy import occupancy

for threads, registers, shared in ((256, 32, 0), (256, 64, 0), (32, 32, 0), (128, 32, 48 * 1024)):
    o = occupancy(threads, registers, shared, capability="8.0")
    print(
        f"{threads:>4} threads, {registers:>3} registers, {shared // 1024:>3} KiB shared:  {o.blocks:>2} blocks, "
        f"{o.warps:>2} warps, {o.share:>4.0%}, limited by {o.limited_by}"
    )

# %% [markdown]
# Full occupancy is not a goal in itself. A kernel whose threads have much independent work of their own needs fewer
# warps: the instruction-level parallelism of unit 02 again.

# %% [markdown]
# ## 12. What the compiler makes of it
#
# `numba.cuda` compiles the same source for a GPU, and you can read the result without having one. **PTX** is NVIDIA's
# portable assembly, **SASS** is what one GPU executes. Both need `pip install "lockstep[gpu]"`.

# %%
from lockstep.errors import WorldUnavailable
from lockstep.simt.machine_code import machine_code

try:
    code = machine_code(add_one, np.zeros(100, dtype=np.float32), capability=(9, 0))  # an H100
    print(f"{len(code.sass)} instructions, {code.registers} registers a thread")
    for instruction in code.sass:
        print("   ", instruction)
except WorldUnavailable as missing:
    print(missing)

# %% [markdown]
# Without that package, here is what it prints for the line `values[i] += 1` and the guard before it (numba-cuda 0.30,
# for an H100, addresses left out):
#
# ```
# ISETP.GE.U32.AND P0, PT, R2, UR4, PT
# ISETP.GE.AND.EX P0, PT, R3, UR5, PT, P0
# @P0 EXIT
# LDG.E R0, desc[UR4][R2.64]
# FADD R5, R0, 1
# STG.E desc[UR4][R2.64], R5
# ```
#
# Look for three things. `S2R` reads where the thread is. `ISETP` is the comparison of the guard: it sets a predicate,
# and `@P0 EXIT` ends the lanes in which it is true. `LDG` and `STG` are the load and the store that the warp machine
# counted.

# %% [markdown]
# ## 13. On a real GPU
#
# Nothing in the kernels changes. If this machine has an NVIDIA GPU, three of them run there, time beside counts.

# %%
from lockstep.simt.gpu import beside, on_gpu

source, target = np.ones((256, 256), dtype=np.float32), np.zeros((256, 256), dtype=np.float32)
try:
    for kernel in (naive_transpose, tiled_transpose(32), tiled_transpose(33)):
        timed = on_gpu(kernel, (8, 8), (32, 32), source, target)
        print(beside(launch(kernel, (8, 8), (32, 32), source, target), timed))
except WorldUnavailable as nothing:
    print(nothing)
    print("The counts above need none.")

# %% [markdown]
# And the tensor cores: the product that you emulate in the lab, beside the emulation's exact sum.

# %%
from lockstep.simt.gpu import on_tensor_cores

A, B = np.random.default_rng(0).random((2, 1024, 1024))
try:
    product, seconds = on_tensor_cores(A, B)
    exact = A.astype(np.float16).astype(float) @ B.astype(np.float16).astype(float)
    print(f"{2 * 1024**3 / seconds / 1e12:.1f} TFLOP/s, relative error {np.abs(product / exact - 1).max():.1e}")
except WorldUnavailable as nothing:
    print(nothing)

# %% [markdown]
# ## 14. Other machines for the same work
#
# The idea goes on: more arithmetic for less control. A **TPU** has a grid of multipliers through which matrices flow,
# a systolic array. An **FPGA** is wired for one program: it has no instructions at all, takes hours to compile for,
# and answers within microseconds. Chips for one purpose come and go. They all suit machine learning for the same
# reasons: the work is regular, it is known in advance, and it tolerates low precision.
