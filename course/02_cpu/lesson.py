# %% [markdown]
# # 02 Inside a CPU
#
# **How much can one core do at the same time?**
#
# ![](opening.svg)
#
# All that a model learns comes down to products and sums. One core of your machine can do many of them at once, in one
# program without threads. Most programs don't let it. In the course's formula
# $A_t = F(A_{t-1}, \Delta(\text{data}, A_{t-1}))$, this unit is about the inside of $\Delta$.
#
# | | minutes | what |
# |---|---|---|
# | Whole lesson | {minutes} | sections 1 to 9 |
# | Short path | {minutes} | sections 1 to 3, the wrap-up; then `dot` in the lab |
# | [Lab](../../labs/02_cpu/lab.ipynb) | 100 | four exercises, and two more for those who want them |
#
# You need nothing from earlier units but NumPy's arrays.

# %%
import inspect

import numpy as np
from IPython.display import display
from numba import njit, prange

from lockstep import predict, quiz, reconcile, show, your_turn
from lockstep.cpu import memory_traffic
from lockstep.cpu.compiled import inner_loop
from lockstep.cpu.dot import REORDER
from lockstep.cpu.matmul import blocked_matmul
from lockstep.cpu.saxpy import saxpy
from lockstep.experiments.cpu import naive, placed, side_by_side, your_line
from lockstep.experiments.cpu.accumulators import addition_seconds, source
from lockstep.experiments.cpu.memory_hierarchy import distances_table
from lockstep.experiments.cpu.latency import latency
from lockstep.experiments.cpu.numa import numa_table
from lockstep.experiments.cpu.roofs import measure_roofs
from lockstep.experiments.cpu.rungs import PYTHON, roof, rungs
from lockstep.this_machine import host

show.cache_walk()

# %% [markdown]
# ## 1. One sum, seven programs · {minutes} minutes · short path
#
# The **dot product** of two arrays is the sum of $x_i y_i$. Here is the loop in Python. `@njit` makes **numba** turn it
# into machine code, when it is first called.
#
# Commit to a number below. A guess is fine. Then look at the two smallest values in the figure, and at that of our loop,
# *compiled, in order*.


# %%
@njit
def naive_dot(x, y):
    s = np.float32(0)
    for i in range(x.size):
        s += x[i] * y[i]
    return s


x, y = np.ones(2048, np.float32), np.ones(2048, np.float32)
print(naive_dot(x, y))

# %% lesson="predict cpu-ladder"
predict(
    "cpu-ladder",
    "Two lists of 2,048 numbers. A Python loop multiplies them pair by pair and adds up the products. The fastest "
    "program for this, with numbers of 32 bits, on one core and one thread: how many times as fast is it?",
    unit="times",
)

# %% lesson="after cpu-ladder"
ladder, roofs = rungs(), measure_roofs()
best = min(ladder.values())
print(f"the best program {best:.3f} ns, the roof {roof(roofs):.3f} ns an element")
measured, at_most = ladder[PYTHON] / best, ladder[PYTHON] / roof(roofs)
display(reconcile("cpu-ladder", simulated=at_most, measured=measured))
show.bars(ladder, "ns", "One core: time for an element")

# %% [markdown] lesson="reason cpu-ladder"
# **Our reason.** A Python loop finds out what `a * b` means, over and over. Compiled code knows. But the compiled loop
# still adds in order: each addition waits for the one before. **Accumulators** end that waiting (section 2). **Lanes**
# add several numbers at once (section 3). “Simulated” is a bound: what this core can compute and load at most (section
# 6).
#
# The time of `x @ y` contains a call from Python. With 2,048 elements, that is much of it.

# %% [markdown]
# ## 2. Additions that wait · {minutes} minutes · short path
#
# This is the innermost loop of the compiled function, as a processor runs it. Find the additions: where does each sum
# go?

# %%
loop = inner_loop(naive_dot, x, y)
print(loop)
print(len(loop.chains), "accumulator;", loop.chains[0].steps, "additions in a row")

# %% [markdown]
# | Intel and AMD | ARM | what it does |
# |---|---|---|
# | `vmovss` | `ldr` | load one number into a **register**: `xmm0`, … |
# | `vmulss` | `fmul` | multiply one pair (on ARM perhaps several at once) |
# | `vaddss` | `fadd` | add one number. On Intel and AMD the last register is where the sum goes |
#
# All additions go into the same register, so each waits for the one before. It need not be so. Take `C = A * B`,
# `Z = X * Y`, `S = C + Z`. The first two don't need each other: a **superscalar** core begins both in the same cycle.
# And it is a **pipeline**: an addition takes a few cycles, but the next can begin before it is done. This is
# **instruction-level parallelism**.
#
# So keep k sums instead of one. This is k = 3. The compiler keeps its order.

# %%
print(source(3))

# %% lesson="predict cpu-accumulators"
predict(
    "cpu-accumulators",
    "One accumulator is 1. With twelve accumulators, how many times as fast will the sum be?",
    unit="times",
)

# %% lesson="after cpu-accumulators"
seconds = {}
for k in (1, 2, 3, 4, 6, 8, 12):
    seconds[k] = addition_seconds(k)
faster = {k: seconds[1] / seconds[k] for k in seconds}
display(reconcile("cpu-accumulators", measured=faster[12]))
lines = {"measured here": faster, "k times as fast": {1: 1, 12: 12}}
show.curves(lines, "accumulators", "times as fast", "Sums that don't wait")

# %% [markdown] lesson="reason cpu-accumulators"
# **Our reason.** At first, k accumulators are k times as fast. Then the curve levels off: the core is full. Where it does
# depends on the core: on how long an addition takes, and on how many can begin in a cycle. Your core's level is in the
# figure.

# %% [markdown]
# **Your turn.** How many accumulators keep a core full? Write one line.


# %% lesson="turn accumulators_needed"
def accumulators_needed(latency, ports):
    """An addition takes `latency` cycles, and the core begins `ports` of them in each
    cycle. How many must be under way, so that it can always begin as many?"""
    ### BEGIN SOLUTION
    return latency * ports
    ### END SOLUTION


# %% lesson="behind accumulators_needed"
cases = [(4, 2), (1, 1), (4, 1), (3, 4), (2, 2), (5, 2), (3, 2), (1, 4), (10, 3)]
wrong = {
    lambda latency, ports: latency: "That fills one port: each cycle begins one addition. How many may begin?",
    lambda latency, ports: ports: "They all begin in the first cycle. And in the next, while they are under way?",
    lambda latency, ports: latency + ports: "In each of `latency` cycles, `ports` additions begin. None is done yet.",
    lambda latency, ports: latency / ports: "More ports need more additions, not fewer.",
}
well = "Right: latency × ports. Below, a model of a core runs with your number."

# %% lesson="after accumulators_needed"
show.additions(accumulators_needed(latency=4, ports=2), latency=4, ports=2)

# %% lesson="quiz begun"
quiz(
    "begun",
    "An addition takes 4 cycles, and the core begins at most 2 in a cycle. With 6 accumulators, how many additions are "
    "done in 100 cycles, on average?",
    unit="additions",
    answer=150,
    because="Each accumulator takes one addition in 4 cycles: 6 · 100 / 4. The ports would allow 200.",
    wrong={
        200: "The ports allow that. Are there enough accumulators?",
        25: "That is one accumulator.",
        600: "An accumulator has to wait 4 cycles before its next addition.",
        100: "That is four accumulators.",
        300: "Each addition takes 4 cycles, not 2.",
    },
)

# %% [markdown]
# ## 3. One instruction, many numbers · {minutes} minutes · short path
#
# Why doesn't the compiler take more accumulators unasked? It must not: another order is another sum. You may allow it.
# But `@njit(fastmath=True)` also promises that no number is **NaN**, “not a number”, and the usual test for NaN is
# `x != x`. `REORDER` asks for less: to regroup additions, to fuse a product and a sum, to forget the sign of zero.
#
# Find the additions in the listing. In the figure, each row is a register, and each box a sum.


# %%
def is_nan(x):
    return x != x


large, small = np.float32(1e8), np.float32(3)
print((large + small) - large, "or", (large - large) + small)
for allowed in (False, True, REORDER):
    told = njit(fastmath=allowed)(is_nan)(np.nan)
    print(f"fastmath={allowed}: is_nan(nan) says {told}")
fast_dot = njit(fastmath=REORDER)(naive_dot.py_func)
loop = inner_loop(fast_dot, x, y)
print(loop)
show.registers(loop)

# %% [markdown]
# The same source, and there are several accumulators. And `ps`, **packed**, has taken the place of `ss`, **scalar**: one
# instruction works on all numbers of a register, its **lanes**. That is **SIMD**: single instruction, multiple data.
# `vfmadd` (on ARM `fmla`) is a product and a sum at once.
#
# | instructions | since | bits | float32 lanes | registers |
# |---|---|---|---|---|
# | SSE … SSE4.2 | 1999 | 128 | 4 | xmm |
# | NEON (ARM, Macs) | about 2005 | 128 | 4 | v, q |
# | AVX, AVX2 with FMA | 2011, 2013 | 256 | 8 | ymm |
# | AVX-512 | 2016 | 512 | 16 | zmm |
#
# The compiler may use less than your processor has. And a **type** can halve the lanes of a register. Below is `saxpy`, $y = a x + y$,
# twice. The first says `np.float32(a)`. The second doesn't, and a Python float has 64 bits.

# %%
print("this processor:", host.processor(), *host.simd())
for kernel in (saxpy, naive.saxpy_in_float64):
    found = inner_loop(kernel, 2.0, x, y)
    every = {i.mnemonic for i in found.instructions}
    names = {i.mnemonic for i in found.arithmetic} | {m for m in every if "cvt" in m}
    lanes = f"{found.lanes} lanes of float{found.element_bits}"
    print(f"{lanes}, {found.lanes * found.element_bits} bits:", *sorted(names))
print("512 bits hold", 512 // 32, "float32 or", 512 // 64, "float64")

# %% [markdown]
# In the second, each number is converted to 64 bits (`cvt…`), computed, and converted back. If both have as many lanes,
# the second took registers twice as wide.
#
# **Common claims, and what we count**
#
# | a common claim | we count | why |
# |---|---|---|
# | “512-bit registers, which can hold 16 floating point numbers” | 16 float32, but 8 float64 | 16 holds for numbers of 32 bits. Python's and NumPy's own have 64. |
#
# What the same slides say on instruction-level parallelism, on SIMD and on several cores agrees with what we measure.

# %% lesson="quiz under-way"
quiz(
    "under-way",
    "Registers of 256 bits, float64, and three accumulators, each a whole register. How many additions of numbers are "
    "under way at once, if no register waits?",
    unit="additions",
    answer=12,
    because="256 / 64 = 4 lanes in each of three registers.",
    wrong={
        24: "That is float32. How many float64 are in 256 bits?",
        3: "Each instruction adds all lanes of a register.",
        4: "That is one register.",
        7: "Each of the three has its own lanes: multiply.",
        768: "Those are bits.",
    },
)

# %% [markdown]
# ## 4. Memory is a staircase · {minutes} minutes
#
# So far all arrays were small. Now follow a chain of addresses through a larger one. Each step waits for the one
# before, and nobody can foresee the next.
#
# In the figure, look where the curve steps up: the dotted lines are the caches that your system reports. The table goes
# on to another server (unit 03 has GPUs, unit 04 NCCL and gloo). Follow its third column: how many additions could
# the core have done, one after the other, while it waits?

# %% lesson="predict cpu-memory"
predict(
    "cpu-memory",
    "One step through an array of 4 KiB, and one through an array of 64 MiB. How many times as long does the second take?",
    unit="times",
)

# %% lesson="after cpu-memory"
sizes = [2**k for k in range(2, 17)]  # KiB
steps = {kib: 1e9 * latency(1024 * kib, 0.02) for kib in sizes}
marks = {name: size / 1024 for name, size in host.caches().items() if name != "L1i"}
marks = {name: kib for name, kib in marks.items() if kib <= sizes[-1]}
lines, title = {"one step": steps}, "One access that waits"
display(reconcile("cpu-memory", measured=steps[sizes[-1]] / steps[sizes[0]]))
display(show.curves(lines, "KiB", "ns", title, marks, log="xy"))
distances_table(measure_roofs())

# %% [markdown] lesson="reason cpu-memory"
# **Our reason.** A **cache** is small and near, or large and far. The time steps up where the array outgrows one. In a
# virtual machine many share the last cache, so its step may come earlier. On a busy machine single points jump: run the
# cell again.

# %% [markdown]
# ## 5. A line at a time · {minutes} minutes
#
# Memory does not come in single numbers. It comes in **lines** of 64 bytes: 8 float64. Use the whole line, and you pay
# once for all of it.
#
# A matrix lies in memory row by row. Here are two programs for $C = AB$, with the same products. The library runs them
# in Python on arrays that write down each address, and counts the misses of a cache of 32 lines. Each line of memory has
# 8 places there where it may lie.

# %%
for kernel in (naive.matmul_by_columns, naive.matmul_by_rows):
    print(inspect.getsource(kernel.py_func))
    print(f"24 × 40 times 40 × 40: {memory_traffic.misses(kernel):,} misses\n")

# %% [markdown]
# The first walks down the columns of B, the second along its rows.
#
# **Your turn.** In which line is element [i, j]? The matrix is of float64 and begins where a line begins. A row need not
# end where a line ends.


# %% lesson="turn line_of"
def line_of(i, j, columns):
    """The number of the line of 64 bytes that holds element [i, j], counted from 0."""
    ### BEGIN SOLUTION
    return (i * columns + j) // 8
    ### END SOLUTION


# %% lesson="behind line_of"
cases = [(0, 0, 40), (0, 7, 40), (0, 8, 40), (1, 0, 40), (3, 39, 40), (1, 0, 3), (2, 2, 3), (5, 6, 12), (99, 1, 1000)]
cases += [(0, 0, 1), (9, 0, 1), (4, 4, 5)]
wrong = {
    lambda i, j, columns: i * columns + j: "That counts elements. How many of them are in a line?",
    lambda i, j, columns: j // 8: "That is right in row 0. Which elements come before row i?",
    lambda i, j, columns: (j * columns + i) // 8: "That is a matrix that lies column by column.",
    lambda i, j, columns: i * (columns // 8) + j // 8: "Then each row begins a new line. With 3 columns, it does not.",
    lambda i, j, columns: (i * columns + j) // 64: "A line has 64 bytes. A float64 has 8 of them.",
}
well = (
    "Right. Both walks below touch the same lines. But down a column, each step needs another one. When the walk comes "
)
well += "back for a line's next number, the line is gone."

# %% lesson="after line_of"
your_line.walks_table(line_of)

# %% [markdown]
# By rows, all of B still passes by for every row of A, and is gone before it is needed again. So work in **blocks**:
# squares of A, B and C which fit into the cache together. What was fetched is used as often as a block is wide.

# %% lesson="predict cpu-blocks"
predict(
    "cpu-blocks",
    "By rows, the program above misses the cache about 5,000 times. How often does it miss if it works in blocks of 8 × 8?",
    unit="misses",
    answer=1395,
)

# %% lesson="after cpu-blocks"
widths = 2, 4, 8, 16, 40
tried = show.progress(widths, "Counting")
blocked = {w: memory_traffic.misses(blocked_matmul, w) for w in tried}
rows = {w: memory_traffic.misses(naive.matmul_by_rows) for w in (2, 40)}
display(reconcile("cpu-blocks", simulated=blocked[8]))
lines, fit = {"blocked": blocked, "by rows": rows}, (2048 / 8 / 3) ** 0.5
marks = {"three blocks fill the cache": fit}
show.curves(lines, "width of a block", "misses", "A cache of 32 lines", marks)

# %% [markdown] lesson="reason cpu-blocks"
# **Our reason.** A block is 8 lines. There are 3 × 5 blocks in A and in C, and 5 × 5 in B. Three of them work together
# 3 · 5 · 5 = 75 times, and each time two are new: 75 · 2 · 8 = 1,200. The blocks of A add 15 · 8 = 120. The rest is lines
# that crowd each other out of their 8 places.
#
# Too small a block is used too seldom; too large a block does not stay. [More](more.ipynb) shows where blocks save
# time.

# %% lesson="quiz stride"
quiz(
    "stride",
    "An array of 1,000,000 float32. You read every 16th element, once. How many MB come from memory?",
    unit="MB",
    answer=4,
    because="62,500 elements, each in a line of its own: 62,500 · 64 bytes. That is the whole array.",
    wrong={
        0.25: "Those are the numbers that you use. What comes with each of them?",
        64: "You read 62,500 elements, not all.",
        0.5: "A float32 has 4 bytes. But what comes is a line.",
        2: "16 float32 are 64 bytes: how many lines are skipped?",
    },
)

# %% [markdown]
# **A good place for a break.** Your predictions and lines are kept.
#
# ## 6. The roofline · {minutes} minutes
#
# A **kernel** is a small function in which a program spends its time. What is the most that it can reach? Two limits: what
# the core computes, in billions of operations a second (GFLOP/s), and what the memory delivers. Its
# **arithmetic intensity** decides: operations for each byte that it moves. A dot product does 2 for 8 bytes: 1/4.
#
# Point at a kernel to read it. How far is each from its roof?

# %%
roofs = measure_roofs()
kernels = placed.measured_kernels(roofs)
show.roofline(placed.peak(roofs, kernels), roofs.bandwidths, kernels)

# %% [markdown]
# The level roof is the most that anything here computed. Each slanted one is the **triad** $a = b + s c$, on arrays in one
# cache or another, or in none. A dot product only reads. So it may come out above a triad, which also writes. The one in
# order stays far below: its additions wait, which no roofline knows.
#
# With 64 MB, lanes and accumulators bring less: the data come too slowly. The matrix product moves few bytes for what it
# computes, so there SIMD is everything.

# %% lesson="quiz saxpy-roof"
quiz(
    "saxpy-roof",
    "A core computes 100 GFLOP/s, and its memory delivers 24 GB/s. saxpy reads x and y, and writes y, all float32 in "
    "memory. How many GFLOP/s can it reach?",
    unit="GFLOP/s",
    answer=4,
    because="2 operations for 12 bytes: 24 / 6.",
    wrong={
        100: "For that it would have to move few bytes. How many does it move for 2 operations?",
        6: "y is read and written: that is 12 bytes, not 8.",
        2: "A product and a sum are two operations.",
        12: "That is for each 4 bytes. It moves 12.",
    },
)

# %% [markdown]
# ## 7. Several cores, one memory · {minutes} minutes
#
# Lanes and accumulators work on one task. **Cores** work on independent ones, each a **thread**. They share one memory:
# what one writes, the others see. Below, two threads add one to the same four counters. An increment is three steps:
# load, add, store. If the other thread stores in between, its addition is lost: a **race**.
#
# An **atomic** addition is one step. A **lock** makes several steps one, and to take it is atomic, too.

# %%
side_by_side.race_table()

# %% [markdown]
# Plain increments may be lost: the more, the longer the two ran side by side. On one free core, none is. That makes races
# hard to find. Atomic ones all arrive. But each waits for the one before it, even where nobody else wants the counter.
#
# So share little: give each worker a piece of its own.
#
# **Your turn.** Cut n numbers into pieces, as even as possible: no two differ by more than one.


# %% lesson="turn first_element"
def first_element(w, n, workers):
    """Which of n elements does worker w begin with? It ends where worker w + 1 begins;
    worker number `workers`, which does not exist, would begin at n."""
    ### BEGIN SOLUTION
    return w * n // workers
    ### END SOLUTION


# %% lesson="behind first_element"
cases = [(w, n, K) for n, K in ((10, 4), (3, 4), (0, 2), (12, 4), (7, 1), (1000, 16)) for w in range(K + 1)]
wrong = {
    lambda w, n, workers: w * (n // workers): "Then nobody has the last n % workers elements.",
    lambda w, n, workers: n // workers: "That is how many elements a worker has. Where does worker w begin?",
    lambda w, n, workers: w * n / workers: "Nearly. An index is a whole number.",
    lambda w, n, workers: min(n, w * -(-n // workers)): "Then 12 numbers and 5 workers leave the last one nothing.",
    lambda w, n, workers: w: "Then each has one element, and the rest is left over.",
}
well = "Right. In the lab, each worker of your parallel sum begins there."

# %% lesson="after first_element"
your_line.pieces_table(first_element)

# %% [markdown]
# ## 8. One line, four writers · {minutes} minutes
#
# Each worker has numbers and a counter of its own. Now nothing is shared. Or is it? A core may write to a line only
# while no other core has it. (**prange** is numba's `range` whose turns are divided among threads.)
#
# Say that in each round all four read their counter, and then all four write. Count one each time a core writes to a line
# of which others have a copy, or reads one whose newest copy only another core has.


# %%
@njit(parallel=True)
def parallel_sum(x, workers):
    partial = np.zeros(workers)
    for w in prange(workers):
        for i in range(w, x.size, workers):
            partial[w] += x[i]
    return partial.sum()


# %% lesson="predict cpu-transfers"
predict(
    "cpu-transfers",
    "4 workers add up 400 numbers with the program above, in rounds. How often does a cache line move from core to core?",
    unit="times",
    answer=499,
)

# %% lesson="after cpu-transfers"
for size in (4, 8, 12):
    moved, _ = memory_traffic.transfers(parallel_sum, size, workers=4)
    print(f"{size} numbers: {moved} transfers")
moved, accesses = memory_traffic.transfers(parallel_sum, 400, workers=4)
display(reconcile("cpu-transfers", simulated=moved))
show.lines(memory_traffic.written(accesses), moved, 4, accesses)

# %% [markdown] lesson="reason cpu-transfers"
# **Our reason.** The four counters lie in one line. Before each of 400 writes, the copies of others must go. And each time
# all four have written, the first read has to fetch the newest copy: 100 more, but for the very first round, before which
# nobody has written: 400 + 100 − 1 = 499. Yet nobody ever looks at another's counter. This is **false sharing**. The values are
# right. Only time is lost.

# %% [markdown]
# That is what the *program* asks for. A compiler may keep a sum in a register and write it once. Counters that the data
# choose must stay in memory. With nearly 2 threads running, expect the shared line to take longer. With far fewer,
# the threads took turns, and you see no difference.

# %%
side_by_side.lines_table()

# %% lesson="quiz every-other"
quiz(
    "every-other",
    "To mend it, you let worker w write to partial[2 * w], in an array of 8 float64 that begins where a line begins. How "
    "often does a line move now, for the 400 numbers?",
    unit="times",
    answer=499,
    because="Elements 0, 2, 4 and 6 are bytes 0 to 55: still one line. partial[8 * w] has a line for each.",
    wrong={
        0: "Two counters share a line if they are less than 64 bytes apart. How far apart are these?",
        250: "How many lines do elements 0, 2, 4 and 6 lie in?",
        400: "Each write takes the line. And the reads?",
    },
)

# %% [markdown]
# ## 9. Two sockets · {minutes} minutes
#
# A server may have several **sockets**, each with a processor and memory of its own. The other socket's memory is
# farther away: **non-uniform memory access**, NUMA. A socket with its memory is a **node**. Your machine may have only
# one. So here is a box with two, which
# others have measured. Which suffers more, a single read or a stream?

# %%
numa_table()

# %% [markdown]
# The stream does: all cores share the link between the sockets. So keep a process and its data on one socket:
# `numactl --cpunodebind=0 --membind=0 python …`.
#
# **Hyperthreads** are two threads on one core. Each has registers of its own. They share the arithmetic: where one
# waits for memory, the other goes on.

# %% [markdown]
# ## Wrap-up
#
# You can now:
#
# - count the accumulators and lanes of a loop in its machine code;
# - say why a compiler keeps the order of a sum, and allow another one;
# - say what an access costs, from a register to another server;
# - place a kernel under its roofs;
# - find false sharing in a program whose values are right.
#
# In practice you write `@`: BLAS has these loops.
#
# **Go on**: [the lab](../../labs/02_cpu/lab.ipynb). Your lines are steps of it. [More](more.ipynb): where blocks pay,
# branches, tools. **Or stop here**, and begin with the lab.
