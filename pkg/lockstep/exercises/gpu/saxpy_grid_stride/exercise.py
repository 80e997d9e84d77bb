"""y = alpha·x + y in a loop as wide as the grid."""

from lockstep.exercises.gpu.elementwise import elementwise, on_grids, on_vectors

EXERCISE = elementwise(
    number=2,
    title="A loop as wide as the grid",
    minutes=15,
    parameters="alpha, x, y",
    reference="lockstep.simt.kernels:saxpy_grid_stride",
    cases=on_grids((1000, 2, 64), (1000, 4, 64), (800, 1, 128), (700, 3, 96), (501, 3, 50), (100, 2, 128), (1, 1, 32)),
    call=lambda case: on_vectors(case, first=(2.5,)),
    wanted=lambda alpha, x, y: alpha * x + y,
    of="a loop as wide as the grid",
)
