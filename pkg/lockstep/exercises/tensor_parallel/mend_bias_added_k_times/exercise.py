"""Mend a layer by rows whose bias is added on each rank: right on one rank, and where the bias is 0."""

from torch import Tensor

from lockstep.checks.case import Case
from lockstep.checks.exercise import Costs
from lockstep.exercises.tensor_parallel.layer_steps import Layer, along, passes
from lockstep.exercises.tensor_parallel.sizes import nbytes, normal, of, sized
from lockstep.tensor_parallel.f_and_g import share

SIZES = {  # n, m, h; by ranks. With fewer columns than ranks the last ranks have none
    1: [(3, 5, 4)], 2: [(2, 7, 3), (1, 4, 4)], 3: [(4, 8, 5), (2, 3, 1)], 4: [(3, 8, 8), (2, 6, 3), (2, 3, 5)],
}  # fmt: skip
FAR = 10  # a bias far from 0, as after a training


def drawn(case: Case) -> list[Tensor]:
    n, m, h = of(case, "n m h")
    """Of three ranks, the second has zeros in its columns of x."""
    x, B, b = normal(case, (n, m), (m, h), (h,))
    if case.ranks == 3:
        x[:, share(m, 3, 1)] = 0
    return [x, B, b + FAR * (-1) ** case.ranks]


def by_rows(x: Tensor, B: Tensor, b: Tensor) -> Tensor:
    return x @ B + b


LAYER = Layer("x B b", by_rows, drawn, inside={"B": along(0, "rows")}, given={"x": along(1, "columns")})
EXERCISE = LAYER.exercise(
    number=8,
    kind="mend",
    core=False,
    title="Mend the bias",
    points=2,
    minutes=10,
    parameters="x, B, b, group=None",
    reference="lockstep.tensor_parallel:bias_added_once",
    worlds=(1, 2, 3, 4),
    cases=sized("n m h", SIZES, (3, 5, 4)),
    costs=Costs(algorithm="a layer by rows", budgets=passes(1, nbytes("n h"), "n·h", backward=(0, lambda case: 0, ""))),
)
