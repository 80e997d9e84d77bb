"""Vector addition: one element a thread, neighbours for neighbours."""

from lockstep.exercises.gpu.elementwise import elementwise, on_grids, on_vectors
from lockstep.exercises.gpu.launches import empty, sizes

EXERCISE = elementwise(
    number=1,
    title="Vector addition",
    minutes=10,
    parameters="a, b, out",
    reference="lockstep.simt.kernels:vector_add",
    cases=on_grids((300, 3, 128), (256, 4, 64), (331, 7, 50), (100, 1, 128), (40, 3, 32), (1, 1, 32)),
    call=lambda case: on_vectors(case, last=(empty(sizes(case)[0]),)),
    wanted=lambda a, b, out: a + b,
    algorithm="one element a thread",
)
