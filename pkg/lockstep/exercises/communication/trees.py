"""What the exercises on trees share: a root, K-1 messages in all, and as many rounds as it takes to double to K."""

from __future__ import annotations

import random

from torch import Tensor

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case, numbers
from lockstep.exercises.communication.tensors import nbytes, tensor_cases


def rooted_cases(ranks: int, seed: int, name: str) -> list[Case]:
    """The cases that all exercises have, each with a root: the group's first rank and, where there is one, another.
    ``name`` is what the exercise calls it."""
    draw = random.Random(seed + 1)
    cases = []
    for number, case in enumerate(tensor_cases(ranks, seed)):
        plain = number == 0 or case.settings["numel"] == 0  # where nothing travels, any root seems right
        roots = [case.members[0] if plain else draw.choice(case.members[1:] or case.members)]
        if number == 1 and ranks > 2:
            roots = [case.members[0], case.members[-1]]
        cases += [Case(ranks, case.seed, case.group, {**case.settings, name: root}) for root in roots]
    return cases


def tensor_and_root(case: Case, rank: int) -> tuple[Tensor, int]:
    return numbers(case, rank), root_of(case)


def root_of(case: Case) -> int:
    """A global rank."""
    return int(case.settings["src"] if "src" in case.settings else case.settings["dst"])


def seat_of_root(case: Case) -> int:
    """Its rank in the group."""
    return case.members.index(root_of(case))


def edges(case: Case) -> int:
    """K-1: a tree has as many edges, and each carries the tensor once."""
    return case.size - 1


def depth(case: Case) -> int:
    return (case.size - 1).bit_length()


BUDGETS = (
    Budget("all bytes", lambda case: edges(case) * nbytes(case), "(K-1)·N", at_least=1),
    Budget("all messages", edges, "K-1", at_least=1),
    Budget("rounds", depth, "log2 K, rounded up"),
)
