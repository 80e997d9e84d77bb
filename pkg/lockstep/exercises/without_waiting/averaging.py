"""Inputs of this unit's gossip exercises: graphs, small and awkward, and a tensor on every rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case, generator, laid_out, numbers
from lockstep.checks.wording import counted
from lockstep.exercises.without_waiting.concurrent_messages import early_waits
from lockstep.exercises.without_waiting.evidence import case

MIXINGS: Mapping[str, tuple[int, Sequence[Sequence[int]]]] = {  # rows, in fractions of the first number
    "alone": (4, [[3]]),
    "two who swap (no weight of its own)": (1, [[0, 1], [1, 0]]),
    "a one-way link": (4, [[3, 1], [0, 4]]),
    "a weight below 0": (4, [[5, -1], [2, 2]]),
    "a one-way ring of which the columns sum to 1": (4, [[2, 0, 1], [2, 3, 0], [0, 1, 3]]),
    "a ring": (8, [[4, 2, 0, 2], [2, 4, 2, 0], [0, 2, 4, 2], [2, 0, 2, 4]]),
    "a dense matrix that is not symmetric": (8, [[5, 1, 1, 1], [2, 2, 3, 1], [-1, 4, 1, 2], [3, 2, 1, -2]]),
    "a star round rank 2": (
        4, [[3, 0, 1, 0, 0], [0, 3, 1, 0, 0], [1, 1, 0, 1, 1], [0, 0, 1, 3, 0], [0, 0, 1, 0, 3]]),
    "one-way links, and rank 3 has none": (
        4, [[2, 2, 0, 0, 0], [0, 1, 3, 0, 0], [1, 0, 3, 0, 0], [0, 0, 0, 3, 0], [0, 0, 2, 0, 2]]),
    "one-way links to 1, 2 and 4 ranks further": (
        8, [[(2, 3, 1, 0, 2, 0, 0, 0)[(i - j) % 8] for j in range(8)] for i in range(8)]),
}  # fmt: skip
Tried = tuple[int, str, Mapping[str, Any]]  # ranks of the world, graph; group, rounds, dtype, layout


def cases(*tried: Tried) -> Callable[[int, int], list[Case]]:
    """Those of ``tried`` that are on so many ranks."""
    return lambda ranks, seed: [_case(seed + n, *row) for n, row in enumerate(tried) if row[0] == ranks]


def _case(seed: int, ranks: int, graph: str, more: Mapping[str, Any]) -> Case:
    """It says its graph, and what is special. ``weights`` is the denominator by which the dye is read."""
    settings = {"numel": 4 + 2 * (seed % 3), "dtype": "float64", "layout": "contiguous", "rounds": 1, **more}
    group, told = settings.pop("group", None), [counted(more["rounds"], "round")] if "rounds" in more else []
    trivial, weights = not settings["rounds"], MIXINGS[graph][0] if graph in MIXINGS else 1
    return case(ranks, seed, group, graph, *told, trivial=trivial, graph=graph, weights=weights, **settings)


def mixing(case: Case) -> Tensor:
    over, rows = MIXINGS[case.settings["graph"]]
    return torch.tensor(rows, dtype=torch.float64) / over


def tensor(case: Case, rank: int) -> Tensor:
    """A vector; or a matrix of two columns, not contiguous. In float64, numbers that need more than 32 bits. A rank may
    have zeros."""
    if case.settings["dtype"] == "float32":
        return numbers(case, rank)
    drawn = torch.randint(-(2**34), 2**34, (case.settings["numel"],), generator=generator(case, rank))
    numbers_here = drawn.double() / 2**20 * (rank != case.settings.get("zeros_on"))
    values = laid_out(numbers_here, case.settings["layout"])
    return values.t() if values.dim() == 2 else values


def budgets(links: Callable[[Case], int], more: int = 0) -> tuple[Budget, ...]:
    """One message for each of the links and rounds, of the tensor's numbers and so many ``more``; all at once."""

    def number(case: Case) -> int:
        return int(links(case) * case.settings["rounds"])

    def nbytes(case: Case) -> int:
        x = tensor(case, 0)
        return number(case) * (x.nbytes + more * x.element_size())

    early = Measure(
        lambda seen: early_waits(seen.trace, max(1, seen.case.settings["rounds"])), "rank",
        "{} wait for a message before all sends or all receives are posted", "{} wait early", "early-waits",
    )  # fmt: skip
    at_once = "Post every isend and irecv first, and wait then: nobody has to wait for what goes on between two others."
    return (
        Budget("collectives", lambda case: 0, advice="Messages to neighbours are enough."),
        Budget("barriers", lambda case: 0, advice="Who has received its messages can go on."),
        Budget("all messages", number, "one for each link and round"),
        Budget("all bytes", nbytes),
        Budget(early, lambda case: 0, advice=at_once),
    )
