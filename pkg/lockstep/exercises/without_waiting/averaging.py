"""What is averaged in this unit's gossip: graphs, small and awkward, and a tensor on every rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case, generator, laid_out, numbers
from lockstep.checks.observation import Seen
from lockstep.checks.traffic import messages
from lockstep.checks.wording import counted

Edges = set[tuple[int, int]]  # (j, i): j sends to i, seats in the group

MIXINGS: Mapping[str, tuple[int, Sequence[Sequence[int]]]] = {  # rows, in fractions of the first number
    "alone": (1, [[1]]),
    "two who swap (no weight of its own)": (1, [[0, 1], [1, 0]]),
    "a one-way link": (4, [[3, 1], [0, 4]]),
    "a one-way ring of which the columns sum to 1": (4, [[2, 0, 1], [2, 3, 0], [0, 1, 3]]),
    "a ring": (8, [[4, 2, 0, 2], [2, 4, 2, 0], [0, 2, 4, 2], [2, 0, 2, 4]]),
    "a dense matrix that is not symmetric": (8, [[5, 1, 1, 1], [2, 2, 3, 1], [1, 4, 1, 2], [3, 2, 1, 2]]),
    "a star round rank 2": (
        4, [[3, 0, 1, 0, 0], [0, 3, 1, 0, 0], [1, 1, 0, 1, 1], [0, 0, 1, 3, 0], [0, 0, 1, 0, 3]]),
    "one-way links, and rank 3 has none": (
        4, [[2, 2, 0, 0, 0], [0, 1, 3, 0, 0], [1, 0, 3, 0, 0], [0, 0, 0, 4, 0], [0, 0, 2, 0, 2]]),
    "one-way links to 1, 2 and 4 ranks further": (8, [[(2, 3, 1, 0, 2, 0, 0, 0)[(i - j) % 8] for j in range(8)]
                                                      for i in range(8)]),
}  # fmt: skip
LINKS: Mapping[str, Sequence[Sequence[int]]] = {  # [i]: to whom i sends
    "alone": [[]],
    "two": [[1], [0]],
    "a one-way ring": [[1], [2], [0]],
    "a one-way ring and a short cut": [[1], [2], [3, 0], [0]],
    "a ring one way, and rank 0 sends to all": [[3, 1, 2], [2], [3], [0]],
    "two rings that share rank 0": [[1, 3], [2], [0], [4], [0]],
    "unequal numbers of links": [[1, 2, 4], [3], [3, 5, 6, 7], [4], [5, 6], [7], [0, 1], [0]],
}


def averaged(graph: str, numel: int, ranks: int, seed: int, group: tuple[int, ...] | None = None, **more: Any) -> Case:
    """A case that says its graph; ``more``: layout, dtype, rounds."""
    where = f"the group {list(group)} of {ranks} ranks" if group else counted(ranks, "rank")
    settings = {"numel": numel, "dtype": "float64", "layout": "contiguous", "graph": graph, **more}
    told = [where, *([] if ranks == 1 else [graph])]
    told += [counted(settings["rounds"], "round")] if "rounds" in settings else []
    told += ["a tensor that is not contiguous"] if settings["layout"] == "matrix" else []
    told += ["float32"] if settings["dtype"] == "float32" else []
    settings["weights"] = MIXINGS[graph][0] if graph in MIXINGS else 1  # a denominator, by which the dye is read
    settings["trivial"] = ranks == 1 or settings.get("rounds") == 0
    return Case(ranks, seed, group, {**settings, "told": ", ".join(told)})


def mixing(case: Case) -> Tensor:
    over, rows = MIXINGS[case.settings["graph"]]
    return torch.tensor(rows, dtype=torch.float64) / over


def links(case: Case) -> list[list[int]]:
    return [list(row) for row in LINKS[case.settings["graph"]]]


def tensor(case: Case, rank: int) -> Tensor:
    """A vector; or a matrix of two columns, not contiguous. In float64, numbers that need more than 32 bits."""
    if case.settings["dtype"] == "float32":
        return numbers(case, rank)
    drawn = torch.randint(-(2**34), 2**34, (case.settings["numel"],), generator=generator(case, rank))
    values = laid_out(drawn.double() / 2**20, case.settings["layout"])
    return values.t() if values.dim() == 2 else values


def edges(case: Case) -> Edges:
    if case.settings["graph"] in MIXINGS and "rounds" not in case.settings:
        return {(j, i) for i, row in enumerate(mixing(case).tolist()) for j, w in enumerate(row) if w and i != j}
    return {(j, i) for j, row in enumerate(links(case)) for i in row}


def rounds(case: Case) -> int:
    return int(case.settings.get("rounds", 1))


def busiest(case: Case) -> int:
    """Neighbours that the busiest rank sends to, or hears from."""
    found = edges(case)
    return max((sum(edge[end] == seat for edge in found) for seat in range(case.size) for end in (0, 1)), default=0)


def astray(seen: Seen) -> int:
    """Messages that go along no link."""
    seats = {rank: seat for seat, rank in enumerate(seen.case.members)}
    found = edges(seen.case)
    return sum((seats.get(m.source, -1), seats.get(m.target, -1)) not in found for m in messages(seen.trace))


AT_ONCE = "Post every isend and irecv first, and wait then: nobody has to wait for what goes on between two others."


def budgets(numel: int, nowhere: str) -> tuple[Budget, ...]:
    """One message for each link and round, of the tensor's bytes and those of ``numel`` numbers more; all at once.
    ``nowhere``: where there is no link, in words."""
    off = Measure(astray, "message", f"{{}} go {nowhere}", "{} astray", "messages-astray")
    return (
        Budget("collectives", lambda case: 0, advice="Messages to neighbours are enough."),
        Budget(off, lambda case: 0),
        Budget("all messages", lambda case: len(edges(case)) * rounds(case), "one for each link and round"),
        Budget("all bytes", lambda case: len(edges(case)) * rounds(case) * nbytes(case, numel)),
        Budget("rounds", lambda case: busiest(case) * rounds(case), "the neighbours of the busiest rank", at_most=2,
               advice=AT_ONCE),
    )  # fmt: skip


def nbytes(case: Case, more: int) -> int:
    x = tensor(case, case.members[0])
    return x.nbytes + more * x.element_size()
