"""A norm and an MLP of positions in parts: an all-gather and a reduce-scatter a pass in place of an all-reduce."""

from math import prod

from torch import Tensor

from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case
from lockstep.checks.exercise import Costs
from lockstep.checks.observation import Seen
from lockstep.exercises.tensor_parallel.layer_steps import Layer, along, flops, norms_of_others, passes
from lockstep.exercises.tensor_parallel.sizes import nbytes, normal, of, sized
from lockstep.exercises.tensor_parallel.whole_layers import MISTAKEN_BLOCKS, norm_and_mlp

SIZES = {1: [(2, 3, 4, 5)], 2: [(3, 2, 3, 4), (1, 6, 5, 3)], 3: [(2, 3, 4, 7), (3, 6, 3, 2)], 4: [(2, 8, 4, 6)]}


def drawn(case: Case) -> list[Tensor]:
    """Of three ranks, the second has positions of zeros."""
    n, T, h, m = of(case, "n T h m")
    x, *more = normal(case, (n, T, h), (h,), (h,), (h, m), (m,), (m, h), (h,))
    if case.ranks == 3:
        x[:, T // 3 : 2 * T // 3] = 0
    return [x, *more]


def all_reduced(seen: Seen) -> int:
    return max(sum(e.nbytes for e in seen.trace.of_rank(r) if e.kind == "all_reduce") for r in seen.case.members)


BACKWARD = 5, lambda case: 8 * prod(of(case, "n T h")) + 24 * case.settings["h"], "n·T·h + 3·h"
ALL_REDUCED = Measure(all_reduced, "byte", "a rank all-reduces {}", "{} all-reduced", "all-reduced bytes")
GIVEN = {"x": along(1, "positions"), "out": along(1, "positions")}
INSIDE = {"A": along(1, "columns"), "a": along(0, "numbers"), "B": along(0, "rows")}
LAYER = Layer("x weight bias A a B b", norm_and_mlp, drawn, given=GIVEN, inside=INSIDE, mistaken=MISTAKEN_BLOCKS)
EXERCISE = LAYER.exercise(
    number=7, core=False, title="Positions in parts", points=4, minutes=30, worlds=(1, 2, 3, 4),
    cases=sized("n T h m", SIZES, (2, 6, 3, 4)), parameters="x, weight, bias, A, a, B, b, group=None",
    reference="lockstep.tensor_parallel:sequence_parallel",
    costs=Costs(algorithm="this layer", economise=norms_of_others, budgets=(
        Budget(ALL_REDUCED, lambda case: 24 * case.settings["h"], "3·h", advice="Reduce-scatter what is added up."),
        *passes(2, nbytes("n T h"), "n·T·h", backward=BACKWARD),
        flops(lambda case: 12 * prod(of(case, "n T h m")), "12·n·T·h·m"),
    )),
)  # fmt: skip
