# %% [markdown]
# # 03 Inside a GPU
#
# **What does it cost when the 32 threads of a warp part ways?**
#
# ![](opening.svg)
#
# A GPU runs tens of thousands of threads. They do not run one by one: 32 of them share every instruction. What else do
# they share, without being asked? In the course's formula $A_t = F(A_{t-1}, \Delta(\text{data}, A_{t-1}))$ this unit
# looks inside $\Delta$: the arithmetic of an update, on one device.
#
# | | minutes | what |
# |---|---|---|
# | Whole lesson | {minutes} | sections 1 to 8 |
# | Short path | {minutes} | sections 1 to 3, the wrap-up; then `saxpy_grid_stride` in the lab |
# | [Lab](../../labs/03_gpu/lab.ipynb) | 95 | five exercises, and more for those who want them |
#
# You need no GPU, and nothing from earlier units but loops over arrays.

# %%
import inspect

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import display
from numba import cuda, float32

from lockstep import predict, quiz, reconcile, show, your_turn
from lockstep.experiments.gpu import your_line
from lockstep.simt import launch, tensor_core
from lockstep.simt.kernels import naive_transpose, reduction
from lockstep.show.openings import gpu

show.warp(gpu.recorded())

# %% [markdown]
# ## 1. Kernel, thread, block, grid · {minutes} minutes · short path
#
# A CPU core spends much of its area on making *one* program fast: large caches, branch prediction. A GPU spends more on
# arithmetic: while some threads wait for memory, others compute. This is **stream processing**: one small program runs on
# each element of a long stream of data.
#
# The program is a **kernel**, written for *one* thread. A **block** is up to 1,024 threads that can wait for each other and
# share a little memory. The **grid** is all blocks.


# %%
@cuda.jit
def add_one(values):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x  # or cuda.grid(1)
    if i < values.size:
        values[i] += 1


@cuda.jit
def unguarded(values):
    i = cuda.grid(1)
    values[i] += 1


values = np.zeros(100, dtype=np.float32)
launch(add_one, 2, 64, values)  # 2 blocks of 64 threads
print(values.sum(), "of", values.size)
print(*launch(unguarded, 2, 64, values).findings, sep="\n")

# %% [markdown]
# On a GPU you would write `add_one[2, 64](values)`. Here a **warp machine** runs the same source, and counts. 128 threads
# ran. The guard keeps 28 of them away from memory that belongs to somebody else.
#
# A GPU consists of **streaming multiprocessors** (SM): 132 in an H100 SXM (NVIDIA's whitepaper). **A block runs on one SM**,
# from beginning to end. The grid is shared out over all SMs, in no particular order. Below, each SM has room for one block.
# Look at the last round: who works?

# %%
show.blocks_on_sms(blocks=10, sms=4)

# %% lesson="quiz last-round"
quiz(
    "last-round",
    "132 SMs, each with room for one block of your kernel. Each block takes 1 ms. How long do 133 blocks take?",
    unit="ms",
    answer=2,
    because="The 133rd block waits for a free SM. In the second round, 131 SMs stand idle.",
    wrong={
        1: "Only 132 blocks have room at once. When does the last one begin?",
        133: "Blocks on different SMs run at the same time.",
    },
)

# %% [markdown]
# ## 2. The warp · {minutes} minutes · short path
#
# The hardware cuts each block into **warps** of 32 threads, its **lanes**. One instruction goes to all lanes that are at
# the same place. When lanes disagree at an `if`, the warp goes both ways, one after the other. Lanes that do not belong
# there wait, switched off. This is **divergence**.
#
# Read the column *lanes*: which lines have half? (*float64*: numba takes float32 times a whole number in double precision.)
# Then step through the warp. Filled lanes are on.


# %%
@cuda.jit
def two_ways(values):
    i = cuda.grid(1)
    if i % 2 == 0:
        values[i] = 3 * values[i] + 1
    else:
        values[i] = 5 * values[i] - 1


result = launch(two_ways, 1, 32, np.ones(32, dtype=np.float32), record=(0, 0))
display(result.table())
show.warp(result)

# %% [markdown]
# With `i // 32` instead of `i`, whole warps would disagree, and no lane would wait. Loops diverge like branches: a warp stays
# in a loop until its *last* lane is done.
#
# The kernel below draws the Mandelbrot set, one thread a pixel. A warp is a row of 32 pixels. A thread repeats a short loop
# until its point escapes: after 1 turn, or after 40, at most 50.


# %%
@cuda.jit
def mandelbrot(turns):
    column, row = cuda.grid(2)
    if column < turns.shape[1] and row < turns.shape[0]:
        cr = -2 + 3 * column / turns.shape[1]
        ci = -1.25 + 2.5 * row / turns.shape[0]
        zr, zi, count = 0.0, 0.0, 0
        for turn in range(50):
            zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
            if zr * zr + zi * zi > 4:
                break
            count += 1
        turns[row, column] = count


# %% lesson="predict gpu-mandelbrot-lanes"
predict(
    "gpu-mandelbrot-lanes",
    "A picture of 96 x 64 pixels. What share of the lanes does useful work, on average over all instructions?",
    unit="%",
    answer=51.6,
)

# %% lesson="after gpu-mandelbrot-lanes fold"
turns = np.zeros((64, 96), dtype=np.int32)
drawn = launch(mandelbrot, (3, 8), (32, 8), turns).total()
display(reconcile("gpu-mandelbrot-lanes", simulated=100 * drawn.lane_efficiency))
begun = np.minimum(turns + 1, 50).reshape(64, 3, 32)  # (row, warp, lane)
print(f"by hand: {begun.sum() / (32 * begun.max(axis=2).sum()):.0%} of the lanes")
for block in ((32, 8), (16, 16), (8, 8), (4, 8)):
    grid = 96 // block[0], 64 // block[1]
    share = launch(mandelbrot, grid, block, turns).total().lane_efficiency
    print(f"block {block[0]:>2} x {block[1]:<2}  lanes at work {share:.0%}")
figure, axes = plt.subplots(figsize=(5.4, 3.4))
axes.imshow(turns, cmap="viridis")
axes.set(title="turns until a point escapes", xlabel="column", ylabel="row")
figure.tight_layout()

# %% [markdown] lesson="reason gpu-mandelbrot-lanes"
# **Our reason.** A warp pays for its slowest lane. Add up the turns of all lanes, and divide by 32 times those of
# the slowest lane of each warp. Along the border of the set, one lane that stays in holds the other 31. The count differs a
# little: it has the instructions outside of the loop, too. In a block of 8 x 8 a warp is a patch of 8 x 4 pixels. Points in
# a patch escape at more similar times than points in a row.

# %% [markdown]
# ## 3. Memory comes in sectors · {minutes} minutes · short path
#
# A warp's load is one **request** for 32 addresses. Memory answers in **sectors** of 32 bytes; four of them make a line of
# 128 bytes. If 32 lanes read 32 neighbouring floats, that is 128 bytes: 4 sectors, and nothing is wasted. Such an access
# is **coalesced**.
#
# Now 128 threads sum 2,048 floats, 16 each. On a CPU you would give each thread a piece: the first one elements 0 to 15,
# the next one 16 to 31.


# %%
@cuda.jit
def by_pieces(values, out):
    t, total = cuda.grid(1), float32(0)
    for i in range(16 * t, 16 * (t + 1)):
        total += values[i]
    out[t] = total


# %% lesson="predict pieces"
predict(
    "pieces",
    "For the loads of values: memory moves how many times as many bytes as the threads ask for?",
    unit="times",
    answer=8,
)

# %% lesson="after pieces"
result = launch(by_pieces, 2, 64, np.ones(2048, np.float32), np.zeros(128, np.float32))
load = result.line("total += values")
reconcile("pieces", simulated=32 * load.sectors / load.global_bytes)

# %% [markdown] lesson="reason pieces"
# **Our reason.** What counts is what the 32 lanes of a warp want *at the same time*. In each turn, neighbouring lanes are
# 16 floats apart: 64 bytes. So each lane needs a sector for itself, and wants 4 of its 32 bytes. What the number does not
# show is a cache. A GPU may still have the sector when the next turn needs it; the warp machine has none.

# %% [markdown]
# **Your turn.** Neighbouring threads should take neighbouring elements in every turn. Then a kernel works for any number of
# elements, with a grid of any size. NVIDIA calls this a **grid-stride loop**.


# %% lesson="turn element"
def element(thread, turn, threads):
    """There are `threads` threads. Which element does `thread` take in turn 0, 1, …?"""
    ### BEGIN SOLUTION
    return thread + turn * threads
    ### END SOLUTION


# %% lesson="behind element"
cases = [(thread, turn, threads) for threads in (128, 1, 96) for turn in (0, 1, 3) for thread in (0, threads // 2)]
cases += [(5, 7, 65536), (31, 2, 64)]
wrong = {
    lambda thread, turn, threads: thread * 16 + turn: "Those are pieces. What is neighbouring thread's element then?",
    lambda thread, turn, threads: thread + turn: "Then threads 0 and 1 both take element 1. How far is a turn's step?",
    lambda thread, turn, threads: thread + turn * 32: "32 is a warp. How many threads take an element in each turn?",
    lambda thread, turn, threads: turn * threads: "That is where the turn begins. Which element is this thread's?",
    lambda thread, turn, threads: (
        thread * threads + turn
    ): "Neighbouring threads are far apart then. Which factor is it?",
}
well = "Right: a turn takes as many neighbours as there are threads. As a range: range(thread, n, threads)."

# %% lesson="after element"
your_line.loops_table(element)

# %% lesson="quiz doubles"
quiz(
    "doubles",
    "32 lanes read 32 neighbouring numbers in float64. How many sectors is that?",
    unit="sectors",
    answer=8,
    because="32 · 8 bytes = 256 bytes, in sectors of 32.",
    wrong={
        4: "That is float32. How many bytes has a float64?",
        32: "Neighbours share sectors: four float64 fit into one.",
        2: "Those are lines of 128 bytes. A line has four sectors.",
        1: "One request, yes. Memory answers in sectors of 32 bytes.",
    },
)

# %% [markdown]
# ## 4. Shared memory, and its banks · {minutes} minutes
#
# Each block has some **shared memory**, faster than global memory: up to 48 KB, or on request up to 163 KB on an A100 and
# 227 KB on an H100 (CUDA C++ Programming Guide). Who needs it? A transpose. It reads rows, and that is coalesced. It writes
# columns, and that is not. Look at *sect/req*: the mean of 4 and 32.

# %%
source = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
target = np.zeros_like(source)
launch(naive_transpose, (2, 2), (32, 32), source, target).table()

# %% [markdown]
# The way out: a block reads a **tile** of 32 x 32 by rows into shared memory, and writes it out by rows. In between, it
# reads a *column* of the tile.
#
# Shared memory has 32 **banks**, each one word of 4 bytes wide: word 0 lies in bank 0, word 31 in bank 31, word 32 in bank
# 0 again. In one go, a **wavefront**, each bank serves one word, to whoever wants it. Two lanes that want different words of one bank take two
# wavefronts: a **bank conflict**.

# %% lesson="predict column"
predict(
    "column",
    "A tile of 32 x 32 floats, row after row. The 32 lanes of a warp read one of its columns. How many wavefronts?",
    unit="wavefronts",
    answer=32,
)

# %% lesson="after column"
reconcile("column", simulated=your_line.column_wavefronts(width=32))

# %% [markdown] lesson="reason column"
# **Our reason.** From row to row it is 32 words, once through all banks. So the whole column lies in one bank, and its 32
# lanes are served one by one. A row of the same tile takes one wavefront. The number says nothing of seconds: it is a count
# for each request, and a kernel that waits for global memory anyway may hide some of it.

# %% [markdown]
# **Your turn.** Make the rows wider than they need to be, and leave words at their ends unused. Where does a number lie then?


# %% lesson="turn bank"
def bank(row, column, width):
    """A row has `width` words. In which bank lies the word of this row and column?"""
    ### BEGIN SOLUTION
    return (row * width + column) % 32
    ### END SOLUTION


# %% lesson="behind bank"
cases = [(row, column, width) for width in (32, 33, 40) for row in (0, 1, 31) for column in (0, 5)] + [(900, 7, 1000)]
wrong = {
    lambda row, column, width: column % 32: "That is right if a row has 32 words. Here rows may be longer.",
    lambda row, column, width: (
        (row + column) % 32
    ): "That is right for 33 words. How far is it from one row to the next?",
    lambda row, column, width: row * width + column: "That is the word. After bank 31 comes bank 0 again.",
    lambda row, column, width: (
        (row * width + column) // 32
    ): "That says how often you have gone through all banks. Which is left over?",
    lambda row, column, width: (column * width + row) % 32: "Words lie row after row here, not column after column.",
}
well = "Right. One unused word in each row is enough. You write this transpose in the lab, for every size of matrix."

# %% lesson="after bank"
your_line.columns_table(bank)

# %% lesson="quiz padding"
quiz(
    "padding",
    "A colleague makes the rows 44 words wide. How many wavefronts does a column take?",
    unit="wavefronts",
    answer=4,
    because="Rows begin in bank 0, 12, 24, 4, 16, 28, 8, 20, and then in 0 again: 8 banks for 32 lanes.",
    wrong={
        1: "Where do rows 0 and 8 begin? 8 · 44 = 352 = 11 · 32.",
        12: "12 is how far the next row moves. How many rows share a bank?",
        8: "That is how many banks are used. How many lanes share one?",
        32: "That would be so if all rows began in one bank.",
    },
)

# %% [markdown]
# **A good place for a break.** Your predictions and lines are kept.
#
# ## 5. Waiting for each other · {minutes} minutes
#
# Warps of a block run in no particular order. `cuda.syncthreads()` is a **barrier**: no thread goes on before all threads
# of the block have come. In the first kernel it is missing. In the second, not everybody comes to it. Both should reverse
# a block's numbers:


# %%
@cuda.jit
def reverse(values):
    tile = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    if t < values.size:
        tile[t] = values[t]
        values[t] = tile[values.size - 1 - t]


@cuda.jit
def leaves_early(values):
    tile = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    if t < values.size:
        tile[t] = values[t]
        cuda.syncthreads()
        values[t] = tile[values.size - 1 - t]


for kernel in (reverse, leaves_early):
    print(*launch(kernel, 1, 128, np.arange(100, dtype=np.float32)).findings, sep="\n")

# %% [markdown]
# On a GPU, such a **race** may go right a thousand times. The warp machine watches who wrote and read each word.
#
# And within a warp? Its threads “share an instruction stream — mostly”, says a slide. Since Volta (2017), each thread has
# a place of its own in the program. After an `if`, lanes may go on apart until a `cuda.syncwarp()`: **independent thread
# scheduling** (CUDA C++ Programming Guide). The warp machine brings lanes together right behind the `if`. But it relies on
# nothing that a GPU doesn't promise:


# %%
@cuda.jit
def hand_over(values):
    box = cuda.shared.array(1, float32)
    if cuda.laneid == 0:
        box[0] = values[0]
    values[cuda.laneid] = box[0]  # cuda.syncwarp() is missing above this line


print(*launch(hand_over, 1, 32, np.arange(32, dtype=np.float32)).findings, sep="\n")

# %% [markdown]
# ## 6. Sums · {minutes} minutes
#
# Many threads want to add to one number. `count[0] += 1` reads, adds and writes. In between, another thread may do the
# same, and one of the two additions is lost. An **atomic** addition cannot be interrupted half-way.


# %%
@cuda.jit
def count_badly(count):
    count[0] += 1


@cuda.jit
def count_well(count):
    cuda.atomic.add(count, 0, 1)


for kernel in (count_badly, count_well):
    count = np.zeros(1, dtype=np.int32)
    found = launch(kernel, 8, 128, count).findings
    print(f"{kernel.__name__:<12} {count[0]:>4} of 1024  {[f.kind for f in found]}")

# %% [markdown]
# But lanes that add to one address wait for each other. So sum first, as a tree. It needs no memory: in a **shuffle**,
# lanes read each other's registers (where variables are). `cuda.shfl_down_sync(mask, value, offset)` gives each lane the
# `value` of the lane that is `offset` further on. Beyond lane 31 is nobody: such a lane gets its own. The mask has a bit for
# each lane that takes part. All 32 must come.
#
# **Your turn.** Below, lane 0 gets 1 + 17. Say in Python what it does.


# %%
@cuda.jit
def one_round(values):
    value = values[cuda.laneid]
    values[cuda.laneid] = value + cuda.shfl_down_sync(0xFFFFFFFF, value, 16)


values = np.arange(1, 33, dtype=np.float32)
launch(one_round, 1, 32, values)
print(values)


# %% lesson="turn after_round"
def after_round(values, offset):
    """values[k] is lane k's. Which 32 values do the lanes hold after
    value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)? A list."""
    ### BEGIN SOLUTION
    return [v + (values[lane + offset] if lane + offset < 32 else v) for lane, v in enumerate(values)]
    ### END SOLUTION


# %% lesson="behind after_round"
up, mixed = list(range(1, 33)), [(7 * lane * lane) % 11 for lane in range(32)]
cases = [(values, offset) for offset in (16, 8, 1, 31) for values in (up, mixed)] + [([10**6] * 32, 2)]
wrong = {
    lambda values, offset: [
        v + values[(lane + offset) % 32] for lane, v in enumerate(values)
    ]: "That goes round. Beyond lane 31 there is nobody: whose value does such a lane get?",
    lambda values, offset: [
        v + (values[lane + offset] if lane + offset < 32 else 0) for lane, v in enumerate(values)
    ]: "Beyond lane 31 a lane gets its own value back, not 0.",
    lambda values, offset: [
        values[lane + offset] if lane + offset < 32 else v for lane, v in enumerate(values)
    ]: "That is what the shuffle gives. The line adds it to the lane's own value.",
    lambda values, offset: [
        v + (values[lane - offset] if lane >= offset else v) for lane, v in enumerate(values)
    ]: "Down means that values move down to lower lanes: lane 0 gets lane `offset`'s.",
}
well = "Right. Only lane 0 needs to be right in the end; what the last lanes add means nothing, and nobody reads it."

# %% lesson="after after_round"
display(your_line.rounds_table(after_round), your_line.sums_table())
print(inspect.getdoc(reduction))

# %% [markdown] lesson="after after_round"
# Your line makes the five rounds of the first table. The second compares four sums. *divergent* keeps every warp busy with
# ever fewer lanes, *sequential* lets whole warps go. Shuffles need neither memory nor barriers. All of them are reduces, as
# in unit 04, where ranks take the place of lanes.

# %% lesson="quiz atomics"
quiz(
    "atomics",
    "A block of 256 threads. Each warp sums by shuffles, and its lane 0 adds atomically. How many atomic additions is that?",
    answer=8,
    because="One for each warp: 256 / 32.",
    wrong={
        256: "That is one for each thread. What have the shuffles done?",
        1: "Shuffles stay within a warp. How many warps are in the block?",
        32: "A warp has 32 lanes. How many warps does the block have?",
        5: "Five is the number of rounds.",
    },
)

# %% [markdown]
# ## 7. Tiles in a loop · {minutes} minutes
#
# Shared memory has a second use. What many threads of a block need is loaded *once*, and then read from there. This kernel
# counts, for each number, how many are smaller. Each thread brings one number of the tile; then all read all of it. Why
# are there two barriers?


# %%
@cuda.jit
def smaller(values, count):
    tile = cuda.shared.array(64, float32)
    t, i, found = cuda.threadIdx.x, cuda.grid(1), 0
    for start in range(0, values.size, 64):
        tile[t] = values[start + t]  # its number of the tile
        cuda.syncthreads()  # all have written
        for k in range(64):
            if tile[k] < values[i]:
                found += 1
        cuda.syncthreads()  # all have read
    count[i] = found


values, count = np.random.default_rng(0).random(128, np.float32), np.zeros(128, int)
print(launch(smaller, 2, 64, values, count).findings, np.sort(count)[:4])

# %% [markdown]
# Without the second barrier, a quick warp would overwrite the tile while another one still reads it.
#
# A matrix product C = A·B has more to reuse. Naively, a thread loads a row of A and a column of B. By tiles, a block of
# 16 x 16 threads brings two tiles of 16 x 16 in each step. Go through the steps: which tiles does this block load? And
# how many other blocks load the same tile of A?

# %%
show.product_by_tiles()

# %% lesson="predict tiles"
predict(
    "tiles",
    "A and B are 64 x 64. The naive kernel loads how many times as many bytes of A and B as the one by tiles?",
    unit="times",
    answer=16,
)

# %% lesson="after tiles"
naive, tiled = your_line.products()
ratio = your_line.of_factors(naive) / your_line.of_factors(tiled)
display(reconcile("tiles", simulated=ratio))
your_line.products_table(naive, tiled)

# %% [markdown] lesson="reason tiles"
# **Our reason.** A number that a thread brings is read by 16 threads: those of its row, or of its column. So each is loaded
# a sixteenth as often, whatever the size of the matrices. Sectors fall by less: in the naive kernel, lanes that want the
# same number share its sector. And the reading is not gone. It has moved to shared memory.

# %% lesson="quiz larger-tiles"
quiz(
    "larger-tiles",
    "A and B are 1,024 x 1,024, tiles are 32 x 32. How often is each element of A loaded from global memory?",
    unit="times",
    answer=32,
    because="Once for each column of tiles of C: 1,024 / 32.",
    wrong={
        1024: "That is the naive kernel: once for each column of C.",
        64: "That is with tiles of 16 x 16.",
        1: "Each block loads it once. How many blocks need it?",
        1048576: "That is the number of elements.",
    },
)

# %% [markdown]
# ## 8. Tensor cores · {minutes} minutes
#
# Most arithmetic of a network is matrix products. A **tensor core** computes $D = AB + C$ for small matrices of a fixed
# size. Here, a number of A and B has 16 bits, one of C and D 32, or 16. It is an instruction of the *whole warp*: no lane holds a
# matrix. Each holds a **fragment**.
#
# Look at lane 0: which eight numbers of A does it hold?

# %%
each = tensor_core.M * tensor_core.N * tensor_core.K
print(f"this instruction: {each:,} multiply-adds; an ordinary one of a warp: 32")
show.tensor_core()

# %% [markdown]
# **Common claims, and what we count**
#
# | a common claim | we count | why |
# |---|---|---|
# | “small fixed-size matrix-matrix multiply, e.g. 16x16, 8x32, 32x8” | 16 x 16 times 16 x 8 in one instruction | Those are sizes that CUDA C++ offers, 16 deep. PTX, NVIDIA's assembly, has this smaller one. |
# | “a collaborative operation of all the threads in a warp” | 32 lanes, 8 numbers of A each | It agrees. |
# | “Or else runs asynchronously from the CUDA cores” | not counted here | An H100 has that, too: `wgmma`. Four warps issue it together, go on, and wait for it later (PTX ISA). |
#
# How is the *sum* kept? Half precision has 11 binary digits. From 1,024 to 2,048, neighbours are 1 apart; up to 4,096, 2; and
# so on: with each doubling, twice as far. What falls half-way goes to the even neighbour. Take two vectors of 60,000 ones. Our tensor core adds 16
# products at a time. (NVIDIA does not say how a real one rounds in between.)

# %% lesson="predict half-sum"
predict(
    "half-sum",
    "The sum is kept in half precision. What is the dot product of the two vectors?",
    answer=32768,
)

# %% lesson="after half-sum"
ones = np.ones(60_000, np.float16)
print("sum in float32:", tensor_core.dot(ones, ones, np.float32))
reconcile("half-sum", simulated=tensor_core.dot(ones, ones, np.float16))

# %% [markdown] lesson="reason half-sum"
# **Our reason.** Up to 32,768 all multiples of 16 can be written. From there on, adding 16 falls half-way, and goes back to
# 32,768: the sum stands still. Float32 has 24 binary digits, and stands still at 2²⁸, 268 million. That is why mixed precision
# keeps its sums in float32. With random numbers the error begins earlier: [more](more.ipynb) has the curve.

# %% [markdown]
# ## Wrap-up
#
# You can now say:
#
# - why one slow lane holds 31 others;
# - which elements neighbouring threads should take, and what it costs if they don't;
# - why a tile has rows of 33;
# - when a barrier is missing, and when it hangs;
# - why a product by tiles loads each number a sixteenth as often.
#
# **Nsight Compute** (`ncu`) counts the same on real hardware.
#
# **Go on**: [the lab](../../labs/03_gpu/lab.ipynb), 95 minutes. [More](more.ipynb): occupancy, machine code, your own GPU,
# other accelerators. **Or stop here**, and begin with the lab next time.
