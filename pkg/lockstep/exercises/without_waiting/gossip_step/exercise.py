"""A step of gossip over graphs of all kinds; weights are eighths or quarters, so that every sum is exact."""

from fractions import Fraction

import torch
from torch import Tensor

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.dye import Dyed, Wanted
from lockstep.exercises.without_waiting.averaging import averaged, budgets, mixing, tensor

TRIED = {
    1: [("alone", 4, None, {})],
    2: [("two who swap (no weight of its own)", 5, None, {}), ("a one-way link", 6, None, {"dtype": "float32"})],
    3: [("a one-way ring of which the columns sum to 1", 7, None, {})],
    4: [
        ("a ring", 6, None, {}),
        ("a dense matrix that is not symmetric", 8, None, {"layout": "matrix"}),
        ("a one-way link", 3, (1, 3), {}),
    ],
    5: [("a star round rank 2", 4, None, {}), ("one-way links, and rank 3 has none", 9, None, {"dtype": "float32"})],
    8: [
        ("one-way links to 1, 2 and 4 ranks further", 8, None, {}),
        ("a dense matrix that is not symmetric", 5, (1, 3, 4, 6), {}),
    ],
}


def cases(ranks: int, seed: int) -> list[Case]:
    return [
        averaged(graph, numel, ranks, seed + n, group, **more)
        for n, (graph, numel, group, more) in enumerate(TRIED[ranks])
    ]


def sums(case: Case) -> list[Tensor]:
    x = torch.stack([tensor(case, rank).double() for rank in case.members])
    return list(torch.einsum("ij,j...->i...", mixing(case), x).to(tensor(case, case.members[0]).dtype))


def mixed(dyed: Dyed, case: Case) -> Wanted:
    rows = [[(j, Fraction(w)) for j, w in enumerate(row) if w] for row in mixing(case).tolist()]
    return Wanted(tuple(tuple(tuple((j, e, w) for j, w in row) for e in range(dyed.elements)) for row in rows))


EXERCISE = Exercise(
    number=4,
    title="A step of gossip",
    points=3,
    minutes=20,
    parameters="x, mixing, group=None",
    reference="lockstep.without_waiting.gossip:gossip_step",
    cases=cases,
    inputs=lambda case, rank: (tensor(case, rank), mixing(case)),
    wanted=sums,
    kept=True,
    budgets=budgets(0, "where the weight is 0"),
    of="a step of gossip",
    dye=mixed,
    seconds=2.5,
)
