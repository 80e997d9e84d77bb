"""Vector addition: one element a thread, neighbours for neighbours."""

from lockstep.exercises.gpu.elementwise import elementwise, grid, on_grids, vectors
from lockstep.exercises.gpu.launches import empty

EXERCISE = elementwise(
    number=1,
    title="Vector addition",
    minutes=10,
    parameters="a, b, out",
    reference="lockstep.simt.kernels:vector_add",
    cases=on_grids((300, 3, 128), (256, 4, 64), (331, 7, 50), (100, 1, 128), (1, 1, 32)),
    call=lambda case: (*grid(case), (*vectors(case), empty(case.settings["n"]))),
    wanted=lambda case: sum(vectors(case)),
    of="one element a thread",
)
