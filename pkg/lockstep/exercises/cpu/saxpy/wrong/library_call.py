"""The learner thought: The library has it."""

from numba import njit

from lockstep.cpu.saxpy import saxpy as library

MISCONCEPTION = "library-call"


@njit
def saxpy(a, x, y):
    library(a, x, y)
