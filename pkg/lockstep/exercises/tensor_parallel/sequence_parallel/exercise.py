"""A norm and an MLP where each rank has some positions: judged by one rank's, with an all-gather and a reduce-scatter a
pass in place of an all-reduce."""

from torch import Tensor
from torch.nn import functional as F

from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case
from lockstep.checks.observation import Seen
from lockstep.exercises.tensor_parallel.sizes import normal, of, sized
from lockstep.exercises.tensor_parallel.steps import Layer, along, flops, passes

SIZES = {  # n, T, h, m; by ranks
    1: [(2, 3, 4, 5)],
    2: [(3, 2, 3, 4), (1, 6, 5, 3)],
    3: [(2, 3, 4, 7), (3, 6, 3, 2)],
    4: [(4, 4, 5, 8), (2, 8, 4, 6)],
}


def drawn(case: Case) -> list[Tensor]:
    n, T, h, m = of(case, "n T h m")
    return normal(case, (n, T, h), (h,), (h,), (h, m), (m,), (m, h), (h,))


def block(x: Tensor, weight: Tensor, bias: Tensor, A: Tensor, a: Tensor, B: Tensor, b: Tensor) -> Tensor:
    return x + F.gelu(F.layer_norm(x, x.shape[-1:], weight, bias) @ A + a) @ B + b


def activation(case: Case) -> int:
    """Bytes of all positions."""
    n, T, h = of(case, "n T h")
    return 8 * n * T * h


def summed(case: Case) -> int:
    """Bytes of the gradients of weight, bias and b."""
    return 3 * 8 * int(case.settings["h"])


def all_reduced(seen: Seen) -> int:
    return max(sum(e.nbytes for e in seen.trace.of_rank(r) if e.kind == "all_reduce") for r in seen.case.members)


ALL_REDUCED = Measure(all_reduced, "byte", "a rank all-reduces {}", "{} all-reduced", "all-reduced bytes")
LAYER = Layer(
    "x weight bias A a B b", block, drawn, given={"x": along(1, "positions"), "out": along(1, "positions")},
    inside={"A": along(1, "columns"), "a": along(0, "numbers"), "B": along(0, "rows")},
)  # fmt: skip
EXERCISE = LAYER.exercise(
    number=7, core=False, title="Positions in parts", points=4, minutes=30, worlds=(1, 2, 3, 4), of="this layer",
    cases=sized("n T h m", SIZES, (2, 6, 3, 4)), parameters="x, weight, bias, A, a, B, b, group=None",
    reference="lockstep.tensor_parallel.functional:sequence_parallel", budgets=(
        Budget(
            ALL_REDUCED, summed, "3·h",
            advice="An all-gather gives all positions, and a reduce-scatter this rank’s part of a sum.",
        ),
        *passes(2, activation, "n·T·h", (5, lambda case: activation(case) + summed(case), "n·T·h + 3·h")),
        flops(lambda case: 12 * activation(case) // 8 * case.settings["m"], "12·n·T·h·m"),
    ),
)  # fmt: skip
