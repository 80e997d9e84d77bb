# %% [markdown]
# # 03 Inside a GPU: more
#
# Six things for which the lesson has no room: how much arithmetic there is, sums in half precision, occupancy, machine
# code, your own GPU, and other accelerators.

# %%
import matplotlib.pyplot as plt
import numpy as np

from lockstep.errors import WorldUnavailable
from lockstep.experiments.gpu import your_line
from lockstep.experiments.gpu.machine_code import machine_code
from lockstep.experiments.gpu.on_gpu import beside, on_gpu, on_tensor_cores
from lockstep.simt import launch, tensor_core
from lockstep.simt.kernels import naive_transpose, transpose, vector_add
from lockstep.simt.occupancy import occupancy

# %% [markdown]
# ## How much arithmetic is there?
#
# Mind the difference: your cores are measured, the GPUs' numbers are published peaks.

# %%
your_line.peaks_table()

# %% [markdown]
# ## Sums in half precision
#
# The lesson adds ones. With random numbers between 0 and 1, both sums lose something at each of the n/16 steps. Where does
# the sum in half precision reach an error of one in a thousand?

# %% lesson="fold"
random = np.random.default_rng(0)
lengths = [2**k for k in range(5, 15)]
errors = {np.float32: [], np.float16: []}
for n in lengths:
    pairs = [(random.random(n).astype(np.float16), random.random(n).astype(np.float16)) for _ in range(8)]
    for accumulator in errors:
        relative = [tensor_core.dot(x, y, accumulator) / (x.astype(float) @ y.astype(float)) - 1 for x, y in pairs]
        errors[accumulator].append(np.sqrt(np.mean(np.square(relative))))

figure, axes = plt.subplots(figsize=(5.4, 3.4))
axes.loglog(lengths, errors[np.float32], "o-", color="#0072B2", label="sum in float32")
axes.loglog(lengths, errors[np.float16], "s-", color="#D55E00", label="sum in float16")
axes.set(
    xlabel="terms of the sum", ylabel="relative error, root mean square of 8", title="float16 in, two accumulators"
)
axes.legend()
figure.tight_layout()

# %% [markdown]
# ## Enough warps to hide the waiting
#
# A load from memory takes hundreds of cycles. A GPU fills that time: each SM holds many warps (an A100 or H100 up to 64:
# CUDA C++ Programming Guide, technical specifications), and in every cycle it picks some that can go on. **Occupancy** is
# the share of these places that are taken. A block needs threads, registers and shared memory. What runs out first sets the
# limit:

# %%
for threads, registers, shared in ((256, 32, 0), (256, 64, 0), (32, 32, 0), (128, 32, 48 * 1024)):
    o = occupancy(threads, registers, shared, capability="8.0")
    print(
        f"{threads:>4} threads, {registers:>3} registers, {shared // 1024:>3} KiB shared:  {o.blocks:>2} blocks, "
        f"{o.warps:>2} warps, {o.share:>4.0%}, limited by {o.limited_by}"
    )

# %% [markdown]
# Full occupancy is not a goal in itself. A kernel whose threads have much independent work of their own needs fewer warps:
# the instruction-level parallelism of unit 02 again.
#
# ## What the compiler makes of it
#
# `numba.cuda` compiles the same source for a GPU, and you can read the result without having one. **PTX** is NVIDIA's
# portable assembly, **SASS** is what one GPU executes. Both need `pip install "lockstep-lab[gpu]"`.

# %%
try:
    code = machine_code(vector_add, *np.zeros((3, 100), np.float32), capability=(9, 0))  # an H100
    print(f"{len(code.sass)} instructions, {code.registers} registers a thread")
    for instruction in code.sass:
        print("   ", instruction)
except WorldUnavailable as missing:
    print(missing)

# %% [markdown]
# Without that package, here is what it prints for the guard and the line `values[i] += 1` of the lesson's `add_one`
# (numba-cuda 0.30, for an H100, addresses left out):
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
# `ISETP` is the comparison of the guard: it sets a predicate, and `@P0 EXIT` ends the lanes in which it is true. `LDG` and
# `STG` are the load and the store that the warp machine counted.
#
# ## On a real GPU
#
# Nothing in the kernels changes. If this machine has an NVIDIA GPU, two of them run there, time beside counts. So do its
# tensor cores, with the product that you emulate in the lab.

# %%
source, target = np.ones((256, 256), dtype=np.float32), np.zeros((256, 256), dtype=np.float32)
try:
    for kernel in (naive_transpose, transpose):
        timed = on_gpu(kernel, (8, 8), (32, 32), source, target)
        print(beside(launch(kernel, (8, 8), (32, 32), source, target), timed))
    A, B = np.random.default_rng(0).random((2, 1024, 1024))
    product, seconds = on_tensor_cores(A, B)
    exact = A.astype(np.float16).astype(float) @ B.astype(np.float16).astype(float)
    print(f"{2 * 1024**3 / seconds / 1e12:.1f} TFLOP/s, relative error {np.abs(product / exact - 1).max():.1e}")
except WorldUnavailable as nothing:
    print(nothing)
    print("The counts need none.")

# %% [markdown]
# ## Other machines for the same work
#
# A slide expects “many new accelerators for ML with different parallel structures and resources”. “Some will look like
# FPGAs: e.g. CGRAs”, and “some will just speed up one particular operation, such as matrix-matrix multiply”. What becomes of
# a thread there?
#
# | kind | what computes | example | source |
# |---|---|---|---|
# | GPU | warps of threads, each with instructions | H100: 132 SMs | NVIDIA, *H100 whitepaper* |
# | systolic array | a grid of multipliers; numbers move from neighbour to neighbour, no instruction for each product | TPU v1: 256 x 256 multipliers of 8 bits | Jouppi et al., ISCA 2017 |
# | FPGA (field-programmable gate array) | small look-up tables and multipliers, wired anew for each program, bit by bit | Project Brainwave: a recurrent network on a Stratix 10, without batches, at 39.5 TFLOP/s (8-bit floats) | Microsoft, Hot Chips 2017 |
# | CGRA (coarse-grained reconfigurable architecture) | a grid of whole arithmetic units, wired anew for each program, word by word | Plasticine: 64 units that compute, 64 that remember; in its authors' simulation up to 76.9 times an FPGA's performance per watt | Prabhakar et al., ISCA 2017; Podobas et al., *A Survey on Coarse-Grained Reconfigurable Architectures From a Performance Perspective*, IEEE Access 2020 |
# | wafer | many small cores, each with memory of its own, and a network between them | WSE-3: 900,000 cores, 44 GB on the chip | Cerebras, 2024 |
#
# Read the second column from top to bottom. A GPU is told in every cycle what to do. A systolic array is told once for many
# products. On an FPGA and a CGRA the program *is* the wiring: a result goes straight to the unit that needs it. A CGRA has
# fewer choices than an FPGA, so it is configured faster, and loses less area to wires.
#
# All of them suit machine learning for the same reasons: the work is regular, it is known in advance, and it tolerates low
# precision.
#
# Back to [the lesson](lesson.ipynb), or on to [the lab](../../labs/03_gpu/lab.ipynb).
