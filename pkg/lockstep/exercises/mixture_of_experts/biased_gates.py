"""Scores and biases on several ranks, and what a gate that balances by its bias should make of them."""

from __future__ import annotations

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.exercises.communication.tensors import groups
from lockstep.exercises.without_waiting.evidence import case
from lockstep.experts.balance import loads
from lockstep.experts.bias import bias_gate, moved

PLAIN, EQUAL, EVEN, NEXT = "", "equal scores", "all experts have the mean", "loads next to a mean of 1.25 or 2.25"
RATE = 0.125
ROWS: dict[int, list[tuple[list[int], int, int, str]]] = {  # by ranks: tokens of each, experts, k, and how they are
    1: [([9], 6, 2, PLAIN)],
    2: [([7, 5], 6, 2, PLAIN), ([3, 3], 3, 1, EVEN), ([12, 6], 20, 5, EQUAL), ([3, 2], 4, 1, NEXT)],
    3: [([6, 0, 9], 5, 2, PLAIN), ([4, 4, 4], 6, 1, EQUAL)],
    4: [([5, 8, 3, 6], 8, 3, PLAIN), ([2, 3, 1, 2], 4, 4, EVEN), ([2, 3, 1, 3], 4, 1, NEXT)],
}
GROUPED = ([6, 7], 6, 2, PLAIN)


def cases(ranks: int, seed: int) -> list[Case]:
    rows = [(None, row) for row in ROWS[ranks]] + [(group, GROUPED) for group in groups(ranks)[1:]]
    return [
        case(ranks, seed + i, group, f"{T} tokens, {E} experts, k = {k}", how, T=T, E=E, k=k, how=how)
        for i, (group, (T, E, k, how)) in enumerate(rows)
    ]


def given(case: Case, rank: int) -> tuple[Tensor, Tensor, int, float]:
    """Scores that lean to the first experts, and biases of up to 0.4, so that both matter. Where scores are equal,
    biases are, and the second of three ranks has zeros. Where all experts have the mean, every rank's tokens choose
    each of them equally often; next to it, one after another."""
    T, E, k, how = (case.settings[name] for name in ("T", "E", "k", "how"))
    r = case.members.index(rank) if rank in case.members else 0
    drawn, shared = generator(case, rank), generator(case, -1000)
    if how == EVEN:
        turned = [torch.arange(E).roll(t) for t in range(T[r])]
        return torch.stack(turned).double(), torch.zeros(E, dtype=torch.float64), k, RATE
    if how == NEXT:
        first = torch.arange(T[r])[:, None] + sum(T[:r])
        return -((torch.arange(E) - first) % E).double(), torch.zeros(E, dtype=torch.float64), k, RATE
    scores = torch.randn(T[r], E, generator=drawn, dtype=torch.float64)
    scores += torch.linspace(0.8, -0.8, E, dtype=torch.float64)
    bias = 0.8 * torch.rand(E, generator=shared, dtype=torch.float64) - 0.4
    if how == EQUAL:
        return scores.round() * ((case.ranks, rank) != (3, 1)), (5 * bias).round() / 8, k, RATE
    return scores, bias, k, RATE


def wanted(case: Case) -> list[tuple[Tensor, Tensor, Tensor]]:
    own = [given(case, rank) for rank in case.members]
    gated = [bias_gate(scores, bias, k) for scores, bias, k, _ in own]
    load = loads(torch.cat([experts for experts, _ in gated]), case.settings["E"])
    return [(experts, weights, moved(own[0][1], load, RATE)) for experts, weights in gated]
