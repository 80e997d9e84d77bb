"""The exercises of unit 03, in the order of the lab."""

from lockstep.checks.gpu.diagnose import DIAGNOSE
from lockstep.checks.gpu.elementwise import SAXPY, VECTOR_ADD
from lockstep.checks.gpu.fragments import FRAGMENT_MATMUL
from lockstep.checks.gpu.reduction import MEND_DIVERGENT, SEQUENTIAL, SHUFFLE
from lockstep.checks.gpu.tiles import TILED_MATMUL, TRANSPOSE

EXERCISES = (
    VECTOR_ADD,
    SAXPY,
    MEND_DIVERGENT,
    SEQUENTIAL,
    SHUFFLE,
    TRANSPOSE,
    TILED_MATMUL,
    FRAGMENT_MATMUL,
    DIAGNOSE,
)

__all__ = ["EXERCISES"]
