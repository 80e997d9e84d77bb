"""Two convolutions in parts: values and gradients of one rank, one all-reduce a pass, and no product computed twice."""

from torch import Tensor

from lockstep.checks.case import Case
from lockstep.checks.exercise import Costs
from lockstep.exercises.tensor_parallel.layer_steps import Layer, along, flops, passes
from lockstep.exercises.tensor_parallel.sizes import nbytes, normal, of, sized
from lockstep.exercises.tensor_parallel.whole_layers import MISTAKEN_CONVOLUTIONS, convolutions

LETTERS = "n C D M y x"
SIZES = {  # by ranks. Often M is C, or D: then a wrong cut fits, too
    1: [(2, 3, 2, 5, 4, 3)], 2: [(2, 1, 3, 5, 3, 5), (1, 4, 4, 4, 4, 3)], 3: [(3, 4, 2, 7, 3, 4), (2, 3, 3, 3, 5, 2)],
    4: [(2, 5, 3, 8, 4, 3), (1, 2, 5, 5, 2, 6)], 5: [(2, 3, 2, 5, 3, 2)],
}  # fmt: skip
LARGE = 20  # a bias that is added too often is no rounding


def drawn(case: Case) -> list[Tensor]:
    n, C, D, M, y, x = of(case, LETTERS)
    given = normal(case, (n, C, y, x), (M, C, 3, 3), (M,), (D, M, 3, 3), (D,))
    return [*given[:-1], LARGE * given[-1]]


def products(case: Case) -> int:
    """Forward; and backward as many for the filters, and as many for what came in."""
    n, C, D, M, y, x = of(case, LETTERS)
    return 3 * 2 * 9 * n * y * x * M * (C + D)


INSIDE = {"V": along(0, "filters"), "v": along(0, "numbers"), "W": along(1, "channels")}
LAYER = Layer("x V v W w", convolutions, drawn, inside=INSIDE, mistaken=MISTAKEN_CONVOLUTIONS)
EXERCISE = LAYER.exercise(
    number=6, core=False, title="Two convolutions on K ranks", points=2, minutes=15, worlds=(1, 2, 3, 4, 5),
    reference="lockstep.tensor_parallel:parallel_conv2d", cases=sized(LETTERS, SIZES, (2, 3, 2, 3, 4, 3)),
    parameters="x, V, v, W, w, group=None", costs=Costs(algorithm="a pair of convolutions", budgets=(
        *passes(1, nbytes("n D y x"), "n·D·y·x", backward=(1, nbytes("n C y x"), "n·C·y·x")),
        flops(products, "54·n·y·x·M·(C + D)"),
    )),
)  # fmt: skip
