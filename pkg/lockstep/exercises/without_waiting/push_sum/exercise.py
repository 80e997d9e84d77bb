"""Push-sum over one-way links: ranks differ in how many they send to, so that weights differ after the first round."""

import torch
from torch import Tensor

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.exercises.without_waiting.averaging import Tried, budgets, cases, tensor
from lockstep.without_waiting.push_sum import shares

LINKS: dict[str, list[list[int]]] = {  # [i]: to whom i sends
    "alone": [[]],
    "two": [[1], [0]],
    "a one-way ring": [[1], [2], [0]],
    "a one-way ring and a short cut": [[1], [2], [3, 0], [0]],
    "a ring one way, and rank 0 sends to all": [[3, 1, 2], [2], [3], [0]],
    "two rings that share rank 0": [[1, 3], [2], [0], [4], [0]],
    "unequal numbers of links": [[1, 2, 4], [3], [3, 5, 6, 7], [4], [5, 6], [7], [0, 1], [0]],
}
WORLDS = [(len(row), name, {"rounds": n}) for n, (name, row) in zip((3, 1, 2, 3, 2, 5, 3), LINKS.items(), strict=True)]
MORE: list[Tried] = [
    (3, "a one-way ring", {"rounds": 0}),
    (4, "a one-way ring and a short cut", {"rounds": 2, "layout": "matrix"}),
    (5, "a one-way ring", {"rounds": 1, "group": (1, 2, 4)}),
    (8, "a ring one way, and rank 0 sends to all", {"rounds": 4, "group": (1, 3, 4, 6)}),
]


def links(case: Case) -> list[list[int]]:
    return LINKS[case.settings["graph"]]


def ratios(case: Case) -> list[Tensor]:
    split = torch.linalg.matrix_power(shares(links(case)), case.settings["rounds"])
    values = torch.einsum("ij,j...->i...", split, torch.stack([tensor(case, rank) for rank in case.members]))
    return [value / weight for value, weight in zip(values, split.sum(1), strict=True)]


EXERCISE = Exercise(
    number=7, core=False, title="Push-sum", points=3, minutes=20, parameters="x, sends_to, rounds, group=None",
    reference="lockstep.without_waiting.push_sum:push_sum", cases=cases(*WORLDS, *MORE), wanted=ratios, rounding=1e-9,
    inputs=lambda case, rank: (tensor(case, rank), links(case), case.settings["rounds"]), kept=True, seconds=2.5,
    budgets=budgets(lambda case: sum(map(len, links(case))), more=1), of="push-sum",
)  # fmt: skip
