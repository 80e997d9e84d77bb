"""Push-sum along one-way links: what it gives, and what a wrong value is made of."""

from dataclasses import replace

import torch
from torch import Tensor

from lockstep.checks.case import Case
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import number
from lockstep.checks.observation import Seen
from lockstep.checks.run_faults import forgiven, results
from lockstep.checks.values import compare, first_wrong
from lockstep.checks.wording import listed
from lockstep.exercises.without_waiting.averaging import tensor
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


def links(case: Case) -> list[list[int]]:
    return LINKS[case.settings["graph"]]


def ratios(case: Case) -> list[Tensor]:
    split = torch.linalg.matrix_power(shares(links(case)), case.settings["rounds"])
    values = torch.einsum("ij,j...->i...", split, torch.stack([tensor(case, rank) for rank in case.members]))
    return [value / weight for value, weight in zip(values, split.sum(1), strict=True)]


def examine(seen: Seen) -> Fault | None:
    """Wrong values, and what the first wrong one is made of: value and weight, round by round."""
    held, wanted = results(seen), ratios(seen.case)
    near = [forgiven(value, want, 1e-9) for value, want in zip(held, wanted, strict=True)]
    fault = compare(seen, held, near)
    if fault is None or fault.misconception != "wrong-values":
        return fault
    n, at = first_wrong(held, near) or (0, 0)
    x = torch.stack([tensor(seen.case, rank).flatten()[at] for rank in seen.case.members])
    now, steps = torch.stack([x, torch.ones_like(x)], 1), []
    for _ in range(seen.case.settings["rounds"] + 1):
        steps.append(f"{number(now[n, 0].item())}/{number(now[n, 1].item())}")
        now = shares(links(seen.case)) @ now
    rank = seen.case.members[n]
    return replace(fault, aside=f"Round by round, value/weight of rank {rank} is {listed(steps)} there.")
