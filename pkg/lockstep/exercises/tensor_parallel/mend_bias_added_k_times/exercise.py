"""Mend a layer by rows whose bias is added on each rank: right on one rank, and where the bias is 0."""

from torch import Tensor

from lockstep.checks.case import Case
from lockstep.exercises.tensor_parallel.layer_steps import Layer, along, passes
from lockstep.exercises.tensor_parallel.sizes import nbytes, normal, of, sized

SIZES = {1: [(3, 5, 4)], 2: [(2, 7, 3), (1, 4, 4)], 3: [(4, 8, 5), (2, 3, 1)], 4: [(3, 8, 8), (2, 6, 3)]}  # n, m, h
FAR = 10  # a bias far from 0, as after a training


def drawn(case: Case) -> list[Tensor]:
    n, m, h = of(case, "n m h")
    x, B, b = normal(case, (n, m), (m, h), (h,))
    return [x, B, b + FAR]


def by_rows(x: Tensor, B: Tensor, b: Tensor) -> Tensor:
    return x @ B + b


LAYER = Layer("x B b", by_rows, drawn, inside={"B": along(0, "rows")}, given={"x": along(1, "columns")})
EXERCISE = LAYER.exercise(
    number=8, kind="mend", core=False, title="Mend the bias", points=2, minutes=10, parameters="x, B, b, group=None",
    reference="lockstep.tensor_parallel:bias_added_once", worlds=(1, 2, 3, 4),
    cases=sized("n m h", SIZES, (3, 5, 4)), of="a layer by rows",
    budgets=passes(1, nbytes("n h"), "n·h", (0, lambda case: 0, "")),
)  # fmt: skip
