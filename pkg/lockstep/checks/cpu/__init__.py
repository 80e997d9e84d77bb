"""The exercises of unit 02, one file each, in the order of the lab."""

from lockstep.checks.cpu.dot import DOT
from lockstep.checks.cpu.matmul import BLOCKED_MATMUL
from lockstep.checks.cpu.place import PLACE_KERNELS
from lockstep.checks.cpu.roofline import ROOFLINE
from lockstep.checks.cpu.saxpy import SAXPY
from lockstep.checks.cpu.sums import PARALLEL_SUM

EXERCISES = (SAXPY, DOT, BLOCKED_MATMUL, PARALLEL_SUM, ROOFLINE, PLACE_KERNELS)

__all__ = ["EXERCISES"]
