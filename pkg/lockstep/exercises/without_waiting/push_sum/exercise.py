"""Push-sum over one-way links: ranks differ in how many they send to, so that weights differ after the first round."""

import torch
from torch import Tensor

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.exercises.without_waiting.averaging import averaged, budgets, links, rounds, tensor
from lockstep.without_waiting.push_sum import shares

TRIED = {
    1: [("alone", 4, 3, None, {})],
    2: [("two", 5, 1, None, {})],
    3: [("a one-way ring", 4, 2, None, {}), ("a one-way ring", 4, 0, None, {})],
    4: [
        ("a one-way ring and a short cut", 6, 3, None, {}),
        ("a ring one way, and rank 0 sends to all", 8, 2, None, {"layout": "matrix"}),
    ],
    5: [("two rings that share rank 0", 3, 5, None, {}), ("a one-way ring", 4, 1, (1, 2, 4), {})],
    8: [
        ("unequal numbers of links", 4, 3, None, {}),
        ("a ring one way, and rank 0 sends to all", 4, 4, (1, 3, 4, 6), {}),
    ],
}


def cases(ranks: int, seed: int) -> list[Case]:
    return [
        averaged(graph, numel, ranks, seed + n, group, rounds=rounds, **more)
        for n, (graph, numel, rounds, group, more) in enumerate(TRIED[ranks])
    ]


def ratios(case: Case) -> list[Tensor]:
    split = torch.linalg.matrix_power(shares(links(case)), rounds(case))
    x = torch.stack([tensor(case, rank) for rank in case.members])
    values = torch.einsum("ij,j...->i...", split, x)
    return [value / weight for value, weight in zip(values, split.sum(1), strict=True)]


EXERCISE = Exercise(
    number=7,
    core=False,
    title="Push-sum",
    points=3,
    minutes=20,
    parameters="x, sends_to, rounds, group=None",
    reference="lockstep.without_waiting.push_sum:push_sum",
    cases=cases,
    inputs=lambda case, rank: (tensor(case, rank), links(case), rounds(case)),
    wanted=ratios,
    rounding=1e-9,
    kept=True,
    budgets=budgets(1, "along no link"),
    of="push-sum",
    seconds=2.5,
)
