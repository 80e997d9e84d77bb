"""The warp machine: runs kernels written for ``numba.cuda`` without a GPU, and counts what a GPU would do.

It runs one warp of 32 threads at a time, with an active mask, as the hardware does. Results are those of a GPU. For
each line of the source it counts what decides a GPU's speed: instructions and their share of active lanes, sectors of
global memory, wavefronts of shared memory, barriers. Mistakes that a GPU would not report are found, and reported with
their line and threads.

Taught in unit 03. Read in this order:

    kernels         transpose; histogram; reduction; matmul (as kernels)
    launch          grid; block (runs a kernel)
    warp            warp; SIMT
    masks           divergence (the active mask)
    lane_values     (one value for a warp, or one for each lane)
    memory          global memory; shared memory
    memory_access   atomic (loads, stores and atomic operations of a warp)
    coalescing_and_bank_conflicts coalesced; bank conflict; sectors; wavefronts
    schedule        barrier (the order in which warps and blocks run)
    tensor_core     tensor core
    occupancy       occupancy
    profile         (counters by line, and a warp's steps)
    interpreter     (numba's language: statements, expressions, barriers, intrinsics)
    race_detection  race (happens-before: within a warp, a block, a grid)
    errors          (what the machine refuses)
"""

from lockstep.simt.errors import KernelError
from lockstep.simt.launch import Launch, launch
from lockstep.simt.profile import LineCounts, Step
from lockstep.simt.race_detection.findings import Finding, Thread

__all__ = ["Finding", "KernelError", "Launch", "LineCounts", "Step", "Thread", "launch"]
