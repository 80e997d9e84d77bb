"""The learner thought: Lockstep has it already."""

from lockstep.cost import speedup

MISCONCEPTION = "library-call"


def amdahl(p, s):
    return speedup.amdahl(p, s)
