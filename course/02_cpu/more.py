# %% [markdown]
# # 02 Inside a CPU: more
#
# Six things for which the lesson has no room: what the compiler says, where blocks pay, branches, wider registers,
# hyperthreads, a sum in a `prange`. And the tools of professionals.

# %%
import os
import subprocess
import sys
from functools import partial

import numpy as np
from numba import njit, prange

from lockstep import show
from lockstep.cpu.threads import thread_seconds
from lockstep.experiments.cpu import naive, topology
from lockstep.experiments.cpu.blocks import block_width, gflops, rates
from lockstep.experiments.cpu.branch_prediction import (
    keep_below,
    keep_below_without_branch,
)
from lockstep.experiments.cpu.roofs import kernel_time, multiply_adds
from lockstep.this_machine import host

# %% [markdown]
# ## What the compiler says
#
# LLVM, the compiler behind numba, tells why a loop has no vectors. This asks it, in a process of its own. `float32[::1]`
# is numba's name for an array of float32 without gaps.

# %%
ask = """
import llvmlite.binding as llvm
llvm.set_option("", "--debug-only=loop-vectorize")
from lockstep.experiments.cpu.naive import naive_dot
naive_dot.compile("float32(float32[::1], float32[::1])")
"""
answer = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True)
said = [line for line in answer.stderr.splitlines() if "not vectorized" in line]
print(said[0] if said else "This build of LLVM does not say.")

# %% [markdown]
# ## Where blocks pay
#
# A block has a price. Its rows are short, so the innermost loop begins and ends more often. When does it pay? Here is
# this machine, with growing matrices, and blocks of which three just fit into a core's L2 cache. **BLAS** is the library
# behind NumPy's `@`, on one thread.

# %%
measured = rates(sides=(256, 512, 1024))
for name, row in measured.items():
    print(f"{name:<10}", *(f"{rate:8.1f}" for rate in row.values()), "GFLOP/s")
alone = {name: measured[name] for name in ("by rows", "blocked")}
L2 = host.caches().get("L2", 2**20)
marks = {"B fills the L2 cache": (L2 / 8) ** 0.5}
print(f"blocks are {block_width(L2)} wide")
print(f"by columns, 512 × 512: {gflops(naive.matmul_by_columns, 512):.1f} GFLOP/s")
show.curves(alone, "rows and columns", "GFLOP/s", "Where blocks pay", marks)

# %% [markdown]
# While B fits into the core's own cache, it is read from there in long rows: blocks have nothing to save. To the right
# of the dotted line it comes from farther away each time, and blocks can win. By how much, and whether at all, depends
# on how fast the next cache is: compare with your staircase.
#
# BLAS blocks for every cache *and* for the registers, uses all lanes and enough accumulators: all of this unit in one
# library.

# %% [markdown]
# ## Branches
#
# A core works ahead of itself. At an `if` it has to guess which way the program will go. If the guess is wrong, what it
# began is thrown away. Here are the same numbers twice: in random order, and sorted. The program keeps those below 128.

# %%
numbers = np.random.default_rng(0).integers(0, 256, 2**16)
kept = np.zeros(numbers.size + 1, np.int64)
for name, values in {"random": numbers, "sorted": np.sort(numbers)}.items():
    for kernel in (keep_below, keep_below_without_branch):
        ns = 1e9 * kernel_time(partial(kernel, values, 128, kept), 0.1, 5) / values.size
        print(f"{name:<8} {kernel.py_func.__name__:<28} {ns:.2f} ns an element")

# %% [markdown]
# In random data nobody can foresee the first program's branch: half of the guesses are wrong. The second program stores
# every element, and moves on only behind those that stay. It has no branch, so there is nothing to guess.

# %% [markdown]
# ## Wider registers
#
# You may have `avx512f`, and a loop that uses 256 bits. For many processors LLVM prefers that: the first ones with
# AVX-512 lowered their clock for it. You can ask for the other width. Which is faster? That holds for your processor and
# this loop only.

# %%
wide = """
import numpy as np
from numba import njit
from lockstep.cpu.compiled import inner_loop
from lockstep.experiments.cpu.naive import naive_dot
from lockstep.experiments.cpu.roofs import ns_per_element
x, y = np.ones(2048, np.float32), np.ones(2048, np.float32)
fast = njit(fastmath={"reassoc", "contract", "nsz"})(naive_dot.py_func)
print(inner_loop(fast, x, y).register_bits, "bits:", ns_per_element(fast, x, y), "ns")
"""
for wish in ("+prefer-256-bit", "-prefer-256-bit") if "avx512f" in host.simd() else ():
    environment = os.environ | {"NUMBA_CPU_FEATURES": wish}
    answer = subprocess.run([sys.executable, "-c", wide], env=environment, capture_output=True, text=True)
    print(f"{wish}: {answer.stdout.strip() or 'no answer'}")
if "avx512f" not in host.simd():
    print("No AVX-512 here: nothing to compare.")

# %% [markdown]
# Where both say the same width, this processor's compiler keeps to it, and the two numbers compare nothing.

# %% [markdown]
# ## Hyperthreads
#
# A common claim about two threads on one core: slower than as many cores, because resources are shared. Here both threads
# compute and never wait for memory.

# %%
cores = topology.siblings()
allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
pairs = [core[:2] for core in cores if len(core) > 1 and set(core[:2]) <= allowed]
if pairs:
    one, half = np.float32(1), np.float32(0.5)
    compute = [partial(multiply_adds, np.ones(2048, np.float32), one, half, 2000) for _ in range(2)]
    compute[0]()  # compiled now
    alone = min(thread_seconds([topology.pinned(pairs[0][0], compute[0])])[0] for _ in range(3))
    both = min(max(thread_seconds([topology.pinned(p, w) for p, w in zip(pairs[0], compute)])) for _ in range(3))
    print(f"on both threads of one core, each takes {both / alone:.2f} times as long as alone")
else:
    print("No core here has two hardware threads that we may use: nothing to measure.")

# %% [markdown]
# ## A sum in a `prange`
#
# In the lab you use numba's **prange**: a `range` whose turns are divided among threads. A sum in a plain number is
# safe, since each thread gets one of its own.


# %%
@njit(parallel=True)
def count_below(numbers, limit):
    found = 0
    for i in prange(numbers.size):
        found += numbers[i] < limit
    return found


print(count_below(numbers, 128), "below 128; NumPy counts", np.count_nonzero(numbers < 128))

# %% [markdown]
# ## What professionals use
#
# - `perf stat -e cycles,instructions,cache-misses python script.py` counts on the real processor (Linux).
# - Intel Advisor draws the roofline of a whole program; `likwid-perfctr` counts what you need to draw it. `godbolt.org` shows what a compiler makes
#   of any loop.
# - `OMP_NUM_THREADS` and `numactl` say how many threads run, and where.
# - `torch.compile` and XLA **fuse** kernels: a chain of operations moves its data once, which moves its point on the
#   roofline to the right.
#
# Back to [the lesson](lesson.ipynb), or on to [the lab](../../labs/02_cpu/lab.ipynb).
