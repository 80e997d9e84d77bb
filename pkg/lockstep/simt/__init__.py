"""The warp machine: runs kernels as they are written for ``numba.cuda``, without a GPU, and counts what a GPU would do.

It runs one warp of 32 threads at a time, with an active mask, as the hardware does. Results are those of a GPU. What it
counts for each line of the source decides how fast a GPU is: instructions and the share of their lanes that work,
sectors of global memory, wavefronts of shared memory, barriers. What is a mistake on a GPU is found, and told with its
line and its threads.
"""

from lockstep.simt.counts import LineCounts
from lockstep.simt.errors import KernelError
from lockstep.simt.findings import Finding, Thread
from lockstep.simt.launch import Launch, launch
from lockstep.simt.recorder import Step

__all__ = ["Finding", "KernelError", "Launch", "LineCounts", "Step", "Thread", "launch"]
