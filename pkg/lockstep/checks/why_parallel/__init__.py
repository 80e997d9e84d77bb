"""The exercises of unit 00, in the order of the lab."""

from lockstep.checks.why_parallel.choose import CHOOSE
from lockstep.checks.why_parallel.days import DAYS
from lockstep.checks.why_parallel.fit import FIT
from lockstep.checks.why_parallel.laws import AMDAHL, GUSTAFSON
from lockstep.checks.why_parallel.memory import MEMORY

EXERCISES = (AMDAHL, GUSTAFSON, FIT, DAYS, MEMORY, CHOOSE)

__all__ = ["EXERCISES"]
