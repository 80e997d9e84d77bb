"""y = alpha·x + y in a loop as wide as the grid."""

from lockstep.exercises.gpu.elementwise import elementwise, on_grids, on_vectors

ALPHAS = (2.5, -0.5, 3.0)  # by turns

EXERCISE = elementwise(
    number=2,
    title="A loop as wide as the grid",
    minutes=15,
    parameters="alpha, x, y",
    reference="lockstep.simt.kernels:saxpy_grid_stride",
    cases=on_grids(
        (1000, 2, 64), (1000, 4, 64), (800, 1, 128), (700, 3, 96), (501, 3, 50), (100, 2, 128), (2100, 1, 32),
        (1, 1, 32),
    ),
    call=lambda case: on_vectors(case, first=(ALPHAS[case.seed % len(ALPHAS)],)),
    wanted=lambda alpha, x, y: alpha * x + y,
    algorithm="a loop as wide as the grid",
)  # fmt: skip
