"""The warp machine: runs kernels as they are written for ``numba.cuda``, without a GPU, and counts what a GPU would do.

It runs one warp of 32 threads at a time, with an active mask, as the hardware does. Results are those of a GPU. What it
counts for each line of the source decides how fast a GPU is: instructions and the share of their lanes that work,
sectors of global memory, wavefronts of shared memory, barriers. What is a mistake on a GPU is found, and told with its
line and its threads.

Taught in unit 03. Read in this order:

    kernels         transpose; histogram; reduction; matmul (as kernels)
    launch          grid; block (runs a kernel)
    warp            warp; SIMT
    masks           divergence (the active mask)
    lane_values     (one value for a warp, or one for each lane)
    access          (a load or a store of a warp)
    coalescing_and_bank_conflicts coalesced; bank conflict; sectors; wavefronts
    memory          global memory; shared memory
    atomics         atomic
    barriers        barrier
    schedule        (in which order warps and blocks run)
    tensor_core     tensor core
    occupancy       occupancy
    line_counts     (what was counted, by line)
    warp_recorder   (a warp's way, step by step)
    interpreter     (numba's language: statements, expressions, intrinsics)
    race_detection  race (happens-before: within a warp, a block, a grid)
    errors          (what the machine refuses)
"""

from lockstep.simt.errors import KernelError
from lockstep.simt.launch import Launch, launch
from lockstep.simt.line_counts import LineCounts
from lockstep.simt.race_detection.findings import Finding, Thread
from lockstep.simt.warp_recorder import Step

__all__ = ["Finding", "KernelError", "Launch", "LineCounts", "Step", "Thread", "launch"]
