"""What the exercises on broadcast and reduce trees have in common: a root, K-1 messages in all, and log2 K rounds."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from torch import Tensor

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case, numbers
from lockstep.checks.exercise import Costs
from lockstep.exercises.communication.tensors import BUILT_BY_HAND, collective, nbytes, tensor_cases

SEVEN = tuple(range(1, 8))  # three more than a power of two: who serves these one after another takes too long


def rooted(name: str) -> Callable[[int, int], list[Case]]:
    """The cases that all exercises have, each with a root, a global rank: the group's first, and then another. ``name``
    is what the exercise calls it."""

    def cases(ranks: int, seed: int) -> list[Case]:
        draw, found = random.Random(seed + 1), []
        for case in tensor_cases(ranks, seed):
            case = replace(case, group=SEVEN) if case.group and ranks > SEVEN[-1] else case
            last = case.members[-1] if case.group else draw.choice(case.members[1:] or case.members)
            others = [] if case.trivial else [last]  # where nothing travels, any root is right
            found += [replace(case, settings={**case.settings, name: r}) for r in (case.members[0], *others)]
        return found

    return cases


def tensor_and_root(case: Case, rank: int) -> tuple[Tensor, int]:
    return numbers(case, rank), root_of(case)


def root_of(case: Case) -> int:
    return int(case.settings["src"] if "src" in case.settings else case.settings["dst"])


def seat_of_root(case: Case) -> int:
    """Its rank in the group."""
    return case.members.index(root_of(case))


def edges(case: Case) -> int:
    """A tree has as many, and each carries the tensor once."""
    return case.size - 1


def depth(case: Case) -> int:
    return edges(case).bit_length()


BUDGETS = (
    Budget("all bytes", lambda case: edges(case) * nbytes(case), "(K-1)·N", at_least=1),
    Budget("all messages", edges, "K-1", at_least=1),
    Budget("rounds", depth, "log2 K, rounded up"),
)
COSTS = Costs(algorithm="a tree", budgets=BUDGETS, forbidden=BUILT_BY_HAND)
tree = partial(collective, inputs=tensor_and_root, costs=COSTS)
