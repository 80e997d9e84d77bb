"""It calls Lockstep's own answer."""
# points: 0
# told: Lockstep's own answer

from lockstep.checks import find


def amdahl(p, s):
    return find("why_parallel.amdahl").reference_function()(p, s)
