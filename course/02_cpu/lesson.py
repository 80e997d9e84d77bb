# %% [markdown]
# # 02 Inside a CPU
#
# Everything that a model learns comes down to multiplications and additions. One core of your machine can do many of
# them **at the same time**, in one program without any threads. Most programs do not let it.
#
# Start with a number of your own.

# %%
from functools import partial  # partial(f, a) is a function without arguments left: it calls f(a)

import matplotlib.pyplot as plt

from lockstep import predict, reconcile, show
from lockstep.launch.measure import best_time

# %% lesson="predict cpu-ladder"
predict(
    "cpu-ladder",
    "Two lists of 2,048 numbers. A Python loop multiplies them pair by pair and adds up the products. The fastest "
    "program for this, with numbers of 32 bits, on one core and one thread: how many times as fast is it?",
    unit="times",
)

# %% [markdown]
# Commit it. A guess is fine: you will find out what decides it.
#
# In the course's formula $A_t = F(A_{t-1}, \Delta(\text{data}, A_{t-1}))$ this unit is about the inside of $\Delta$:
# the sums and products of one gradient, on one core. Nothing is divided among machines yet.

# %% [markdown]
# ## 1. Four programs for one sum
#
# The **dot product** of two arrays is the sum of $x_i y_i$. Here is the loop in Python, the same in NumPy, and the same
# compiled by **numba**. Numba turns a Python function into machine code: `@njit` in front of it is all.

# %%
import inspect

from lockstep.cpu.naive import naive_dot

print(inspect.getsource(naive_dot.py_func))

# %% [markdown]
# `inspect.getsource` shows what the library really runs; `py_func` is the Python function inside the compiled one. Time
# is measured on this thread's own clock, and the best of several counts, so that other programs on your machine disturb
# little. The unit is **nanoseconds for each element**.

# %%
import numpy as np
from threadpoolctl import threadpool_limits

from lockstep.cpu.roofs import kernel_time, ns_per_element

n = 2048
x, y = np.ones(n, np.float32), np.ones(n, np.float32)
x_list, y_list = x.tolist(), y.tolist()


def python_dot(x, y):
    total = 0.0
    for a, b in zip(x, y):
        total += a * b
    return total


ladder = {"Python, lists": 1e9 * kernel_time(lambda: python_dot(x_list, y_list), 0.2, 5) / n}
ladder["Python, NumPy arrays"] = 1e9 * kernel_time(lambda: python_dot(x, y), 0.2, 2) / n
with threadpool_limits(1):
    ladder["NumPy, x @ y"] = 1e9 * kernel_time(lambda: x @ y) / n
ladder["compiled, in order"] = ns_per_element(naive_dot, x, y)

for name, ns in ladder.items():
    print(f"{name:<24}{ns:>9.3f} ns    {ladder['Python, lists'] / ns:>7.1f} times as fast as Python")

# %% [markdown]
# Python goes through NumPy arrays more slowly than through lists: each element has to be wrapped in a Python object
# first. NumPy pays only for whole expressions. Compiling made the loop many times as fast. NumPy's dot product was
# compiled long ago, and it is faster still. Why? It does the same multiplications.

# %% [markdown]
# ## 2. Read the machine code
#
# This is the innermost loop of the compiled function, as your processor runs it.

# %%
from lockstep.cpu.compiled import inner_loop

loop = inner_loop(naive_dot, x, y)
print(loop)

# %% [markdown]
# You need not learn this language. On a processor by Intel or AMD, look for these three:
#
# | instruction | what it does |
# |---|---|
# | `vmovss` | load one number from memory into a **register**: `xmm0`, `xmm1`, … |
# | `vmulss` | multiply one pair |
# | `vaddss` | add one number. The last register named is where the sum goes |
#
# The last `s` says *single precision* (float32). The `s` before it says **scalar**: one number at a time. On a Mac or
# another ARM processor the names are `ldr`, `fmul` and `fadd`, and the destination comes first.
#
# The compiler wrote several turns into one. All the additions go into the **same register**. So each has to wait for
# the one before it. The library can follow such chains:

# %%
chain = loop.chains[0]
print(
    f"{len(loop.chains)} accumulator. A turn adds to it {chain.steps} times in a row, {chain.lanes} number each time."
)

# %% [markdown]
# ## 3. Instruction-level parallelism
#
# Look at three lines of a program: `C = A * B`, `Z = X * Y`, `S = C + Z`. The first two do not need each other. A core
# that is **superscalar** begins several instructions in the same cycle, if they do not need each other. And it is a
# **pipeline**: an addition takes a few cycles, but the next can begin before the first is done.
#
# So one chain of additions leaves most of the core empty. Take k accumulators, and add element i to accumulator i mod
# k. Here is the program for k = 3:

# %%
from lockstep.cpu.accumulators import source, with_accumulators

print(source(3))

# %% lesson="predict cpu-accumulators"
predict(
    "cpu-accumulators",
    "One accumulator is 1. With twelve accumulators, how many times as fast will the sum be?",
    unit="times",
)

# %% lesson="after cpu-accumulators"
turns, sums = 200, {}
for k in (1, 2, 3, 4, 6, 8, 12):
    kernel, table = with_accumulators(k), np.ones((1920 // k, k))
    seconds = best_time(partial(kernel, table, turns), 0.1)
    sums[k] = 1e9 * seconds / turns / table.size
    chains = len(inner_loop(kernel, table, turns).chains)
    faster = f"{sums[1] / sums[k]:.1f} times as fast"
    print(f"k = {k:<3} {sums[k]:.3f} ns an addition    {faster:<20} {chains:>2} chains in the machine code")
reconcile("cpu-accumulators", measured=sums[1] / sums[12])

# %% lesson="after cpu-accumulators"
figure, axes = plt.subplots(figsize=(7, 3.4))
axes.plot(list(sums), [sums[1] / t for t in sums.values()], "o-", color="#0072B2", label="measured here")
axes.plot([1, 4, 8, 12], [1, 4, 8, 12], ":", color="gray", label="k times as fast")
axes.set(xlabel="accumulators", ylabel="times as fast as one", title="Additions that do not wait for each other")
axes.legend()
figure.tight_layout()

# %% [markdown] lesson="reason cpu-accumulators"
# **Our reason.** At best k accumulators are k times as fast. Then it levels off: the core is full. Its level is
# **latency × ports**: an addition that takes 4 cycles, on a core that begins 2 in each cycle, leaves room for 8. Cores
# differ: some take 2 cycles and have 2 ports, so they are full at 4. Yours is in the picture.

# %% [markdown]
# ## 4. Why does the compiler not do it?
#
# It would be easy for a compiler to take four accumulators. It must not. Additions of floating-point numbers may not be
# reordered:

# %%
large, small = np.float32(1e8), np.float32(3)
print("(large + small) - large =", (large + small) - large)
print("(large - large) + small =", (large - large) + small)

# %% [markdown]
# Another order is another sum. The compiler, LLVM, says so when it is asked. This runs it in a process of its own:

# %%
import subprocess
import sys

ask = """
import llvmlite.binding as llvm
llvm.set_option("", "--debug-only=loop-vectorize")
from lockstep.cpu.naive import naive_dot
naive_dot.compile("float32(float32[::1], float32[::1])")
"""
# float32[::1] is numba's name for an array of float32 without gaps
answer = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True).stderr
said = [line for line in answer.splitlines() if "not vectorized" in line]
print(said[0] if said else "This build of LLVM does not say.")

# %% [markdown]
# You may allow it. A sum of floats is rounded in any order, and no order is the right one. But
# `@njit(fastmath=True)` allows more than that. It also promises that no number is **NaN**, "not a number". The usual
# test for NaN is `x != x`:

# %%
from numba import njit


def is_nan(x):
    return x != x


REORDER = {"reassoc", "contract", "nsz"}
for told, allowed in {"nothing": False, "fastmath=True": True, "REORDER": REORDER}.items():
    print(f"allowed: {told:<14} is_nan(nan) says {njit(fastmath=allowed)(is_nan)(np.nan)}")

# %% [markdown]
# So ask for what you need. `reassoc` allows additions to be regrouped, `contract` one instruction for a product and a
# sum, and with `nsz` the sign of a zero does not matter. The same source again:

# %%
from lockstep.cpu.dot import dot

fast_dot = njit(fastmath=REORDER)(naive_dot.py_func)
loop = inner_loop(fast_dot, x, y)
print(loop)
print(
    f"\n{len(loop.chains)} accumulators, {loop.chains[0].lanes} numbers in each, registers of {loop.register_bits} bits"
)

# %% [markdown]
# ## 5. SIMD: one instruction, many numbers
#
# Two things have changed. There are several accumulators. And `ps` has taken the place of `ss`: **packed**. Each
# register now holds several numbers, its **lanes**, and one instruction handles all of them. This is **SIMD**: single
# instruction, multiple data.
#
# If your listing has `vfmadd231ps`, that is **FMA**, a fused multiply-add: a product and a sum in one instruction, on
# all lanes. (On ARM: `fmla`.)

# %%
from IPython.display import SVG

from lockstep.show.registers import draw_registers

SVG(draw_registers(loop.chains[0].lanes, loop.element_bits, len(loop.chains), True))

# %% [markdown]
# Each generation of processors has had wider registers:
#
# | instructions | since | bits | float32 lanes | registers are called |
# |---|---|---|---|---|
# | SSE, SSE2 … SSE4.2 | 1999 | 128 | 4 | xmm |
# | NEON (ARM, Macs) | about 2005 | 128 | 4 | v, q |
# | AVX, AVX2 with FMA | 2011, 2013 | 256 | 8 | ymm |
# | AVX-512 | 2016 | 512 | 16 | zmm |
#
# Intel's first ones were the Pentium III, Sandy Bridge and Haswell (AVX, AVX2), and the Xeon Phi 7200.
#
# What does your processor have, and what did the compiler use?

# %%
from lockstep.launch import host

print("this processor:  ", host.processor())
print("SIMD:            ", ", ".join(host.simd()) or "unknown")
print("used in our loop:", f"{loop.register_bits} bits")

# %% [markdown]
# You may have `avx512f`, and the loop uses 256 bits. For many processors LLVM prefers that: the first ones with AVX-512
# lowered their clock for it. You can ask for the other width, again in a process of its own, which takes some seconds.
# Which is faster? That holds for your processor and this loop only:

# %%
import os

wide = """
import numpy as np
from numba import njit
from lockstep.cpu.compiled import inner_loop
from lockstep.cpu.naive import naive_dot
from lockstep.cpu.roofs import ns_per_element
x, y = np.ones(2048, np.float32), np.ones(2048, np.float32)
fast = njit(fastmath={"reassoc", "contract", "nsz"})(naive_dot.py_func)
print(inner_loop(fast, x, y).register_bits, ns_per_element(fast, x, y))
"""
ladder["SIMD and ILP"] = ns_per_element(fast_dot, x, y)
print(f"{loop.register_bits} bits: {ladder['SIMD and ILP']:.4f} ns")
if "avx512f" in host.simd():
    wish = "+prefer-256-bit" if loop.register_bits == 512 else "-prefer-256-bit"
    environment = os.environ | {"NUMBA_CPU_FEATURES": wish}
    answer = subprocess.run([sys.executable, "-c", wide], env=environment, capture_output=True, text=True)
    bits, ns = answer.stdout.split() or ("?", "nan")
    print(f"{bits} bits: {float(ns):.4f} ns")
    if bits == str(loop.register_bits):
        print("This processor's compiler keeps to its width: these two numbers compare nothing.")
else:
    print("No AVX-512 here: nothing to compare.")

# %% [markdown]
# ## 6. A type can halve it
#
# `saxpy` computes $y = a x + y$. Its elements do not need each other, so the compiler may use vectors without asking.
# But compare these two loops. The only difference in the source: one of them says `np.float32(a)`.

# %%
from lockstep.cpu.naive import saxpy_in_float64
from lockstep.cpu.saxpy import saxpy

for kernel in (saxpy, saxpy_in_float64):
    loop = inner_loop(kernel, 2.0, x, y)
    names = sorted({i.mnemonic for i in loop.instructions if i.is_arithmetic or "cvt" in i.mnemonic})
    kind = f"float{loop.element_bits}, {loop.lanes} lanes, {loop.register_bits} bits"
    print(f"{kernel.py_func.__name__:<18} {kind}: {', '.join(names)}")

# %% [markdown]
# A Python float is a float64. So `a * x[i]` is a float64, and each element is converted to 64 bits (`cvt…`), computed,
# and converted back. The same number of elements then takes twice as many bits of register: either twice the width, or
# half the lanes. And the conversions come on top.

# %% [markdown]
# ## 7. The ladder
#
# One rung is missing: four accumulators in strict order, without SIMD. The library's `dot` has four, one for each
# quarter of the arrays. Compiled with nothing allowed it shows what instruction-level parallelism does alone.

# %% lesson="after cpu-ladder"
ladder["4 accumulators, in order"] = ns_per_element(njit(dot.py_func), x, y)
ladder["4 accumulators, SIMD"] = ns_per_element(dot, x, y)
rungs = sorted(ladder.items(), key=lambda rung: -rung[1])

figure, axes = plt.subplots(figsize=(8, 3.6))
axes.barh([name for name, _ in rungs], [ns for _, ns in rungs], color="#56B4E9")
for place, (_, ns) in enumerate(rungs):
    axes.text(ns, place, f"  {ns:.3g} ns", va="center", fontsize=9)
axes.set(xscale="log", xlim=(rungs[-1][1] / 2, rungs[0][1] * 6), xlabel="ns an element, logarithmic")
axes.set_title(f"One core: the lowest bar is {rungs[0][1] / rungs[-1][1]:,.0f} times as fast as the highest")
axes.invert_yaxis()
figure.tight_layout()

# %% [markdown]
# NumPy's bar contains its call from Python, some hundred nanoseconds: with 2,048 elements that is much of it. In the
# others the call is left out.
#
# This is a good place for a break: you know what exercises 1 and 2 of the lab ask for.

# %% [markdown]
# ## 8. Memory is a staircase
#
# All arrays so far were small. Now follow a chain of addresses through arrays of different sizes, each step waiting for
# the one before. How long does a step take?

# %% lesson="predict cpu-memory"
predict(
    "cpu-memory",
    "From the smallest, nearest cache to main memory: how many times as long does one access take?",
    unit="times",
)

# %% lesson="after cpu-memory"
from lockstep.cpu.latency import latency

sizes = [2**k * 1024 for k in range(2, 17)]  # 4 KiB to 64 MiB
steps = {size: 1e9 * latency(size, 0.03) for size in sizes}

figure, axes = plt.subplots(figsize=(8, 3.6))
axes.loglog([s / 1024 for s in steps], list(steps.values()), "o-", color="#0072B2")
for name, size in host.caches().items():
    if name != "L1i" and size <= sizes[-1]:
        axes.axvline(size / 1024, color="gray", linestyle=":")
        axes.text(size / 1024, max(steps.values()), f" {name}", fontsize=9)
axes.set(
    xlabel="size of the array, KiB",
    ylabel="ns an access",
    title="One access, when the next address is not known before",
)
figure.tight_layout()
print({f"{size // 1024} KiB": round(ns, 1) for size, ns in steps.items()})
reconcile("cpu-memory", measured=steps[sizes[-1]] / steps[sizes[0]])

# %% [markdown] lesson="reason cpu-memory"
# **Our reason.** Each **cache** is small and near, or large and far. The dotted lines are the sizes that your system reports. A step
# comes where the array outgrows a cache. (In a virtual machine the last cache belongs to many, and on a busy one
# single points jump: run the cell again.)

# %% [markdown]
# ## 9. A line at a time
#
# Memory does not come in single numbers. It comes in **lines** of 64 bytes: 8 float64 or 16 float32. Use the whole
# line, and you pay once for all of it. Jump from row to row, and you pay for every element.
#
# A matrix lies in memory row by row. Here are two programs for $C = AB$. They do the same operations. Only the order
# of the loops differs.

# %%
from lockstep.cpu.naive import matmul_by_columns, matmul_by_rows

print(inspect.getsource(matmul_by_columns.py_func))
print(inspect.getsource(matmul_by_rows.py_func))

# %% [markdown]
# How often does each of them miss a cache? That can be counted. The library runs the function in Python, on arrays that
# write down every address, and hands these to a model of a cache. Here it has 2 KiB: small, so that small matrices do
# not fit.

# %% lesson="predict cpu-misses"
predict(
    "cpu-misses",
    "24 x 40 times 40 x 40, float64, a cache of 32 lines. The first program misses it how many times as often as the "
    "second?",
    unit="times",
)

# %%
from lockstep.cpu.cache import Cache
from lockstep.cpu.matmul import blocked_matmul
from lockstep.cpu.traced import Memory
from lockstep.cpu.tracing import trace


def misses(kernel, *more, size=2048):
    memory, cache = Memory(), Cache(size)
    trace(kernel, memory, memory.place(np.ones((24, 40)), "A"), memory.place(np.ones((40, 40)), "B"), *more)
    for address, *_ in memory.accesses:
        cache.access(address)
    return cache.misses


# %% lesson="after cpu-misses"
counted = {"by columns": misses(matmul_by_columns), "by rows": misses(matmul_by_rows)}
products = 24 * 40 * 40
print(counted)
print(f"by columns: one for each of {products:,} products, and {counted['by columns'] - products:,} more for A and C")
reconcile("cpu-misses", simulated=counted["by columns"] / counted["by rows"])

# %% [markdown] lesson="reason cpu-misses"
# **Our reason.** Down a column, every product needs a new line of B. So every product is a miss. Along a row, a line
# serves its 8 elements. Still, all of B passes by for every row of A, and is gone before it is needed again.

# %% [markdown]
# Work in **blocks** instead: small squares of A, B and C that fit into the cache together. What was fetched is used as
# often as the block is wide. So there are fewer misses. You write that in the lab. How large should a block be? Try
# all sizes in the model:

# %% lesson="after cpu-misses"
widths = (2, 4, 8, 12, 16, 20, 40)
by_width = {b: misses(blocked_matmul, b) for b in show.progress(widths, "Counting")}
figure, axes = plt.subplots(figsize=(7, 3.2))
axes.plot(widths, list(by_width.values()), "o-", color="#009E73", label="blocked")
axes.axhline(counted["by rows"], color="#D55E00", linestyle="--", label="by rows")
axes.axvline((2048 / 8 / 3) ** 0.5, color="gray", linestyle=":", label="three blocks fill the cache")
axes.set(
    xlabel="width of a block", ylabel="misses", ylim=(0, None), title="A cache of 2 KiB, A of 24 x 40, B of 40 x 40"
)
axes.legend()
figure.tight_layout()

# %% [markdown]
# Too small a block is used too seldom. Too large a block does not stay.
#
# But a block has a price. Its rows are short, so the innermost loop begins and ends more often. When does it pay? Now
# the real machine, with growing matrices, and blocks of which three just fit into a core's L2 cache. **BLAS** is the
# library behind NumPy's `@`, here on one thread:

# %%
import math
import time

L2 = host.caches().get("L2", 2**20)
block = 2 ** int(math.log2((L2 / 8 / 3) ** 0.5))


def gflops(multiply, size):
    """10^9 operations in a second for size x size, on this thread's clock: the best of up to five runs."""
    A, times = np.ones((size, size)), []
    while len(times) < 5 and (len(times) < 2 or sum(times) < 0.5):
        begin = time.thread_time()
        multiply(A, A)
        times.append(time.thread_time() - begin)
    return 2e-9 * size**3 / min(times)


ways = {"by rows": matmul_by_rows, "blocked": lambda a, b: blocked_matmul(a, b, block)}
for multiply in (*ways.values(), matmul_by_columns):
    multiply(np.ones((8, 8)), np.ones((8, 8)))  # compiled now
sides = [256, 384, 512, 768, 1152, 1536]
with threadpool_limits(1):
    rates = {}
    for name, way in (ways | {"BLAS": np.matmul}).items():
        rates[name] = [gflops(way, n) for n in show.progress(sides, name)]
for name, row in rates.items():
    print(f"{name:<10}", "".join(f"{rate:>8.1f}" for rate in row), "GFLOP/s")
print(f"by columns, {sides[3]} x {sides[3]}: {gflops(matmul_by_columns, sides[3]):.1f} GFLOP/s")

# %%
figure, axes = plt.subplots(figsize=(7, 3.2))
for name, style in (("by rows", "s--"), ("blocked", "o-")):
    axes.plot(sides, rates[name], style, label=name if name == "by rows" else f"blocked, {block} wide")
axes.axvline((L2 / 8) ** 0.5, color="gray", linestyle=":", label="B fills the L2 cache")
axes.set(xlabel="rows and columns", ylabel="GFLOP/s", ylim=(0, None), title="When do blocks pay?")
axes.legend()
figure.tight_layout()
ahead = [n for n, rows, blocked in zip(sides, rates["by rows"], rates["blocked"]) if blocked > rows]
print("Blocks are ahead here with", ", ".join(map(str, ahead)) or "none of these sides")

# %% [markdown]
# While B fits into the core's own cache, it is read from there in long rows: blocks have nothing to save. To the right
# of the dotted line it comes from farther away each time, and blocks can win. By how much, and whether at all, depends
# on how fast the next cache is: compare with your staircase.
#
# BLAS blocks for every cache **and** for the registers, uses all lanes and enough accumulators: it is all of this unit
# in one library. Write matrix products as `@`, and know why.

# %% [markdown]
# ## 10. The roofline
#
# What is the most that a kernel can reach? It has two limits: what the core computes, and what the memory delivers. Its
# **arithmetic intensity** decides: operations for each byte that it moves. Measure both roofs of this core:

# %%
from lockstep.cpu.roofs import measure_roofs

roofs = measure_roofs()
print(
    f"peak {roofs.peak / 1e9:.0f} GFLOP/s of float32;", {k: f"{v / 1e9:.0f} GB/s" for k, v in roofs.bandwidths.items()}
)

# %% [markdown]
# The peak comes from multiply-adds that stay in registers. The bandwidths come from the **triad** $a = b + s c$ on
# arrays that fit into one cache or another, or into none. Now place the dot product on it: in order and fast, on the
# small arrays and on arrays of 64 MB. A dot product does 2 operations for 8 bytes: its intensity is 1/4, whatever you
# do.

# %%
long_x, long_y = np.ones(2**24, np.float32), np.ones(2**24, np.float32)


def point(kernel, x, y, turns):
    ns = ns_per_element(kernel, x, y, 0.1, turns)
    return 2 * x.size, 8 * x.size, 1e-9 * ns * x.size


n_blas = sides[-1]
kernels = {
    "dot, in order, small": point(naive_dot, x, y, 200),
    "dot, fast, small": point(dot, x, y, 200),
    "dot, in order, 64 MB": point(naive_dot, long_x, long_y, 1),
    "dot, fast, 64 MB": point(dot, long_x, long_y, 1),
    "matmul by BLAS": (2 * n_blas**3, 3 * 8 * n_blas**2, 2e-9 * n_blas**3 / rates["BLAS"][-1]),
}
show.roofline(roofs.peak, roofs.bandwidths, kernels)

# %% [markdown]
# Point at a kernel to read it. Three things to see:
#
# - From main memory, the fast dot product comes near its roof and stops there. More lanes would change nothing.
# - The small arrays lie in the first cache. So they are above the memory's roof, and under the cache's.
# - The matrix product moves few bytes for what it computes. It is limited by computing, so for it SIMD is everything.
#   (It is in float64, where the peak is half of the float32 peak that is drawn.)
#
# In the lab you write the formula, and place five kernels on it.

# %% [markdown]
# ## 11. Branches
#
# A core works ahead of itself. At an `if` it has to guess which way the program will go. Guess wrong, and what it began
# is thrown away. These are the same numbers twice, once in random order and once sorted; the program keeps those below
# 128.

# %%
from lockstep.cpu.branches import keep_below, keep_below_without_branch

numbers = np.random.default_rng(0).integers(0, 256, 2**16)
kept = np.zeros(numbers.size + 1, np.int64)
for name, values in {"random": numbers, "sorted": np.sort(numbers)}.items():
    for kernel in (keep_below, keep_below_without_branch):
        ns = 1e9 * kernel_time(partial(kernel, values, 128, kept), 0.1, 5) / values.size
        print(f"{name:<8} {kernel.py_func.__name__:<28} {ns:.2f} ns an element")

# %% [markdown]
# The first program has a branch that nobody can foresee in random data: half of the guesses are wrong. The second
# stores every element, and moves on only behind those that stay. It has no branch, so there is nothing to guess. On
# sorted data the guess is easy, and both are fast.

# %% [markdown]
# ## 12. Several cores, one memory
#
# A core can have company: other cores, each with caches of its own, in front of the same memory. So the ladder has one
# more rung: **threads**. Give each thread its part of the arrays. The time that counts is that of the busiest thread,
# on its own clock: with as many free cores, that is how long it takes.

# %%
from lockstep.cpu.roofs import repeat
from lockstep.cpu.threads import thread_seconds

turns = 20_000
for number in (1, 2):
    parts = [(np.ones(n // number, np.float32), np.ones(n // number, np.float32)) for _ in range(number)]
    works = [partial(repeat, dot, a, b, turns) for a, b in parts]
    seconds = min(max(thread_seconds(works)) for _ in range(3))
    print(f"{number} thread{'s' if number > 1 else ' '}: {1e9 * seconds / turns / n:.4f} ns an element")

# %% [markdown]
# Unlike lanes and accumulators, cores work on **independent** tasks. Starting a thread takes microseconds, as long as
# thousands of multiplications. It pays only for long tasks.
#
# Threads see what the others write. That makes it easy to share, and easy to go wrong. Two threads add one to the
# **same** counters:

# %%
from lockstep.cpu.threads import count_together

classes = np.random.default_rng(0).integers(0, 4, 100_000)
shared = np.zeros(4, np.int64)
count_together(classes, [shared, shared], turns=1000)
print(f"{shared.sum():,} of {2 * 1000 * classes.size:,} increments are there")

# %% [markdown]
# An increment is three steps: load, add, store. If the other thread stores in between, its addition is lost. This is a
# **race**. How many are lost depends on how often the two really ran at the same moment: on a machine with one free
# core, none. That is what makes races so hard to find.
#
# An **atomic** addition prevents it: load, add and store are one step. A **lock** does it for several steps: only the
# thread that holds it may go on, and to take it is an atomic step, too. What does one cost? The same loop:

# %%
from lockstep.cpu.threads import count, count_atomically

for kernel in (count, count_atomically):
    alone = min(count_together(classes, [np.zeros(4, np.int64)], 100, kernel)) / 100 / classes.size
    shared = np.zeros(4, np.int64)
    both = max(count_together(classes, [shared, shared], 100, kernel)) / 100 / classes.size
    told = f"{1e9 * alone:.2f} ns an increment alone, {1e9 * both:.2f} ns with two threads"
    print(f"{kernel.py_func.__name__:<17} {told}; {shared.sum():,} of {2 * 100 * classes.size:,} are there")

# %% [markdown]
# With atomic additions all increments are there. But each waits until the one before it has reached the cache, even
# where nobody else wants the counter. Where both threads run, it also waits until the line has come over from the other
# core. So share as little as you can: give each thread counters of its own. Is that enough?

# %% lesson="predict cpu-transfers"
predict(
    "cpu-transfers",
    "4 workers add up 400 numbers. Each adds to its own element of one array: partial[w] += x[i]. How often does a "
    "cache line move from core to core?",
    unit="times",
)

# %% lesson="after cpu-transfers"
from lockstep.cpu.coherence import share
from lockstep.cpu.naive import parallel_sum_in_shared_line


def traced_sum(size):
    memory = Memory(workers=4)
    trace(parallel_sum_in_shared_line, memory, memory.place(np.ones(size), "x"), 4)
    return memory.accesses, share(memory.accesses).total


for size in (4, 8, 12):
    print(f"{size:>2} numbers: {traced_sum(size)[1]:>2} transfers")
accesses, moved = traced_sum(400)
reconcile("cpu-transfers", simulated=moved)

# %% lesson="after cpu-transfers"
from lockstep.show.lines import draw_lines

written = sorted({(address, worker) for address, write, worker, _ in accesses if write})
written = [pair for pair in written if pair[1] >= 0]  # by workers, not before or after them
SVG(draw_lines(written, moved, 4))

# %% [markdown] lesson="reason cpu-transfers"
# **Our reason.** A core may write only to a line that no other core has. The four counters lie in one line of 64 bytes. So each write
# takes the line from the others. And each time all four have written, the first read has to fetch the newest copy; only
# the very first one takes it from nobody. Yet nobody ever looks at another's counter. This is **false sharing**. The
# values are right. Only time is lost.

# %% [markdown]
# This count is what the *program* asks for, with workers that take turns. A compiler may keep a sum in a register and
# write it once; then nothing is shared. The counters of the race above cannot be kept in a register, since only the
# data say which is next. Measure them: one line for both
# threads, then a row of 64 bytes and more for each.

# %%
import statistics

for apart, told in ((4, "in one line"), (64, "512 bytes apart")):
    runs, began = [], time.perf_counter()
    for _ in range(5):
        runs.append(count_together(classes, np.zeros((2, apart), np.int64), turns=500))
    side_by_side = sum(map(sum, runs)) / (time.perf_counter() - began)
    ns = [1e9 * max(seconds) / 500 / classes.size for seconds in runs]
    print(f"counters {told:<16} best {min(ns):.2f}, median {statistics.median(ns):.2f} ns an increment", end="; ")
    print(f"{side_by_side:.1f} of 2 threads were running")

# %% [markdown]
# With nearly 2 of 2 threads running, expect the shared line to take longer: each increment waits until the line is
# back. With far fewer, the threads took turns, no line had to move, and you see no difference. The count above is the
# same everywhere.
#
# In the lab you use numba's **prange**: a `range` whose turns are divided among threads. A sum in a plain number is
# safe, since each thread gets one of its own:

# %%
from numba import prange


@njit(parallel=True)
def count_below(numbers, limit):
    found = 0
    for i in prange(numbers.size):
        found += numbers[i] < limit
    return found


print(count_below(numbers, 128), "below 128; NumPy counts", np.count_nonzero(numbers < 128))

# %% [markdown]
# ## 13. Hyperthreads, sockets, NUMA
#
# **Hyperthreads** are two threads on one core: each has registers of its own, and they share the arithmetic. Where one
# waits for memory, the other goes on. Where both compute, they have to share. A machine with several **sockets**, each
# with a processor in it, has memory at each of them. The other socket's memory is farther away: **non-uniform memory
# access**, NUMA.

# %%
from lockstep.cpu import topology
from lockstep.cpu.roofs import multiply_adds

cores, nodes = topology.siblings(), topology.nodes()
allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
print("cores, each with its hardware threads:", cores[:8] or "not told by this system", "…" if len(cores) > 8 else "")
print("NUMA nodes:", len(nodes) or "not told by this system")

pairs = [core[:2] for core in cores if len(core) > 1 and set(core[:2]) <= allowed]
if pairs:
    one, half = np.float32(1), np.float32(0.5)
    compute = [partial(multiply_adds, np.ones(2048, np.float32), one, half, 2000) for _ in range(2)]
    alone = min(thread_seconds([topology.pinned(pairs[0][0], compute[0])])[0] for _ in range(3))
    both = min(max(thread_seconds([topology.pinned(p, w) for p, w in zip(pairs[0], compute)])) for _ in range(3))
    print(f"computing on both threads of one core: each takes {both / alone:.2f} times as long as alone")
else:
    print("No core here has two hardware threads that we may use: nothing to measure.")

if len(nodes) > 1 and {nodes[0][0], nodes[1][0]} <= allowed:
    from lockstep.cpu.latency import circle, follow

    follow(circle(1024), 1)
    with topology.on_processor(nodes[0][0]):
        chain = circle(64 * 2**20)  # whoever writes a page first has it in his memory
    for node in nodes[:2]:
        with topology.on_processor(node[0]):
            follow(chain, chain.size // 8)  # once round, so that both find the same caches
            seconds = best_time(lambda: follow(chain, 20_000), 0.1) / 20_000
        print(f"memory of node 0, seen from processor {node[0]}: {1e9 * seconds:.0f} ns an access")
else:
    print("One node: all memory is equally far.")

# %% [markdown]
# So more threads than cores rarely help arithmetic. On a server with several sockets, keep a process and its data on
# one of them: `numactl --cpunodebind=0 --membind=0 python …`.

# %% [markdown]
# ## 14. Reconcile
#
# Back to the first question. The model is the roofline: 2 operations and 8 bytes for each element, from the first
# cache. It says what the best program could reach on this core. The measurement is the best rung of your ladder.

# %% lesson="after cpu-ladder"
model = 1e9 * max(2 / roofs.peak, 8 / max(roofs.bandwidths.values()))
best = min(ladder.values())
print(f"Python {ladder['Python, lists']:.1f} ns, the best program {best:.3f} ns, the roof {model:.3f} ns an element")
reconcile("cpu-ladder", simulated=ladder["Python, lists"] / model, measured=ladder["Python, lists"] / best)

# %% [markdown] lesson="reason cpu-ladder"
# **Our reason.** A Python loop spends its time on finding out what `a * b` means, over and over. The compiled loop adds in
# order, so its additions wait for each other. Accumulators end that waiting, and lanes add several numbers at once: the
# ladder of section 7 shows what each of them alone is worth here.

# %% [markdown]
# ## 15. What professionals use
#
# BLAS and oneDNN have these loops, for many processors. `torch.compile` and XLA generate them: they **fuse** kernels,
# so that a chain of operations moves its data once, which moves its point on the roofline to the right. Your part is to
# know which roof you are under:
#
# - `perf stat -e cycles,instructions,cache-misses python script.py` counts on the real processor (Linux).
# - Intel Advisor and `likwid-perfctr` draw the roofline of a whole program. `godbolt.org` shows what a compiler makes
#   of any loop.
# - `OMP_NUM_THREADS` and `numactl` say how many threads run, and where.
#
# Go on with [the lab of this unit](../../labs/02_cpu/lab.ipynb).
#
# Next comes [the GPU](../03_gpu/lesson.ipynb): 32 lanes in each instruction, thousands of chains to hide the waiting,
# and the same two roofs.
