"""An MLP in parts: values and gradients of one rank, one all-reduce a pass, and no product computed twice."""

import torch
from torch import Tensor
from torch.nn import functional as F

from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Costs
from lockstep.exercises.communication.tensors import groups
from lockstep.exercises.tensor_parallel.layer_steps import Layer, along, flops, passes
from lockstep.exercises.without_waiting.evidence import case

AWKWARD = {  # n, h, m; by ranks
    1: [(3, 4, 5, "")],
    2: [(5, 3, 8, ""), (1, 4, 1, "")],
    3: [(4, 6, 7, ""), (3, 1, 2, "")],
    4: [(3, 8, 8, ""), (2, 5, 6, "x")],
    5: [(2, 3, 5, "")],
}
LARGE = 20  # times larger than other numbers: a bias that is added too often, or not at all, is no rounding


def cases(ranks: int, seed: int) -> list[Case]:
    """m of all kinds: K, less, a multiple or none; and by turns one row, one column, an x without gradient."""
    rows = [(group, size) for group in groups(ranks) for size in (AWKWARD[ranks] if group is None else [(3, 4, 3, "")])]
    return [
        case(
            ranks, seed + i, group, f"n = {n}, h = {h}, m = {m}", "x needs no gradient" if constant else "",
            n=n, h=h, m=m, constant=constant,
        )
        for i, (group, (n, h, m, constant)) in enumerate(rows)
    ]  # fmt: skip


def sizes(case: Case) -> tuple[int, int, int]:
    return case.settings["n"], case.settings["h"], case.settings["m"]


def drawn(case: Case) -> list[Tensor]:
    n, h, m = sizes(case)
    dice = generator(case, -1000)
    x, A, a, B, b = (torch.randn(s, generator=dice, dtype=torch.float64) for s in ((n, h), (h, m), (m,), (m, h), (h,)))
    return [x, A, a, B, LARGE * b]


def mlp(x: Tensor, A: Tensor, a: Tensor, B: Tensor, b: Tensor) -> Tensor:
    return F.gelu(x @ A + a) @ B + b


def products(case: Case) -> int:
    """Two forward; and backward as many for the weights, and as many for what came in, x if it asks for it."""
    n, h, m = sizes(case)
    return (10 if case.settings["constant"] else 12) * n * h * m


MISTAKEN = {
    "With ReLU, that would be right. The text has GeLU.": lambda x, A, a, B, b: (x @ A + a).relu() @ B + b,
    "With GeLU by tanh, that would be right. F.gelu(y) is the exact one.": (
        lambda x, A, a, B, b: F.gelu(x @ A + a, approximate="tanh") @ B + b
    ),
    "Without GeLU, that would be right.": lambda x, A, a, B, b: (x @ A + a) @ B + b,
}
LAYER = Layer(
    "x A a B b", mlp, drawn, inside={"A": along(1, "columns"), "a": along(0), "B": along(0, "rows")}, mistaken=MISTAKEN
)  # fmt: skip
EXERCISE = LAYER.exercise(
    number=2,
    title="An MLP on K ranks",
    points=4,
    minutes=20,
    parameters="x, A, a, B, b, group=None",
    reference="lockstep.tensor_parallel:parallel_mlp",
    cases=cases,
    worlds=(1, 2, 3, 4, 5),
    costs=Costs(
        algorithm="the MLP",
        budgets=(
            *passes(1, lambda case: 8 * case.settings["n"] * case.settings["h"], "n·h"),
            flops(products, "12·n·h·m"),
        ),
    ),
)
