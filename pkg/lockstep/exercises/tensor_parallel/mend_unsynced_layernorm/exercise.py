"""Mend a norm of positions in parts: each rank's gradients of its weights are summands, and nobody adds them up."""

from torch import Tensor
from torch.nn import functional as F

from lockstep.checks.case import Case
from lockstep.checks.exercise import Costs
from lockstep.exercises.tensor_parallel.layer_steps import Layer, along, norms_of_others, passes
from lockstep.exercises.tensor_parallel.sizes import normal, of, sized

SIZES = {1: [(2, 3, 4)], 2: [(3, 2, 5), (1, 6, 4)], 3: [(2, 3, 4), (3, 6, 2)], 4: [(4, 4, 3), (2, 8, 5)]}  # n, T, h


def drawn(case: Case) -> list[Tensor]:
    """Of three ranks, the second has positions of zeros."""
    n, T, h = of(case, "n T h")
    x, *more = normal(case, (n, T, h), (h,), (h,))
    if case.ranks == 3:
        x[:, T // 3 : 2 * T // 3] = 0
    return [x, *more]


def norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:], weight, bias)


def half(case: Case) -> int:
    """Of the bytes of all positions: an all-gather or a reduce-scatter is half of an all-reduce."""
    n, T, h = of(case, "n T h")
    return 4 * n * T * h


LAYER = Layer("x weight bias", norm, drawn, given={"x": along(1, "positions")}, own_dy=True)
EXERCISE = LAYER.exercise(
    number=9, kind="mend", core=False, title="Mend the norm", points=2, minutes=15, worlds=(1, 2, 3, 4),
    cases=sized("n T h", SIZES, (2, 6, 3)), parameters="x, weight, bias, group=None",
    reference="lockstep.tensor_parallel:synced_layernorm",
    costs=Costs(algorithm="a norm of positions in parts", economise=norms_of_others, budgets=passes(
        1, half, "n·T·h/2", backward=(3, lambda case: half(case) + 16 * case.settings["h"], "n·T·h/2 + 2·h")
    )),
)  # fmt: skip
