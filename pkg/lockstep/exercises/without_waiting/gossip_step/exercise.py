"""A step of gossip over graphs of all kinds; weights are eighths or quarters, so that every sum is exact."""

from fractions import Fraction

import torch
from torch import Tensor

from lockstep.checks.case import Case
from lockstep.checks.exercise import Contributions, Costs, Exercise, Run, Values
from lockstep.dye import Dyed, Wanted
from lockstep.exercises.without_waiting.averaging import MIXINGS, Tried, budgets, cases, mixing, tensor

DENSE = "a dense matrix that is not symmetric"
SINGLE = ("a one-way link", "one-way links, and rank 3 has none")  # precision
WORLDS: list[Tried] = [
    (len(rows), name, {"dtype": "float32"} if name in SINGLE else {}) for name, (_, rows) in MIXINGS.items()
]
MORE: list[Tried] = [
    (4, "a one-way link", {"group": (1, 3)}),
    (8, DENSE, {"group": (1, 3, 4, 6)}),
    (4, DENSE, {"layout": "matrix", "zeros_on": 3}),
    (2, "a one-way link", {"numel": 1, "layout": "()"}),
    (2, "two who swap (no weight of its own)", {"numel": 1, "layout": "()", "dtype": "float32"}),
]


def sums(case: Case) -> list[Tensor]:
    x = torch.stack([tensor(case, rank) for rank in case.members])
    return list(torch.einsum("ij,j...->i...", mixing(case), x.double()).to(x.dtype))


def mixed(dyed: Dyed, case: Case) -> Wanted:
    rows = [[(j, Fraction(w)) for j, w in enumerate(row) if w] for row in mixing(case).tolist()]
    return Wanted(tuple(tuple(tuple((j, e, w) for j, w in row) for e in range(dyed.elements)) for row in rows))


EXERCISE = Exercise(
    number=4, title="A step of gossip", points=3, minutes=20, parameters="x, mixing, group=None",
    reference="lockstep.without_waiting.gossip:gossip_step", cases=cases(*WORLDS, *MORE),
    inputs=lambda case, rank: (tensor(case, rank), mixing(case)), values=Values(wanted=sums),
    costs=Costs(
        algorithm="a step of gossip", budgets=budgets(lambda case: int((mixing(case).fill_diagonal_(0) != 0).sum())),
    ),
    contributions=Contributions(wanted=mixed), run=Run(timeout=2.5),
)  # fmt: skip
