"""Gradients of a step, of one dtype or of two, and their means: what learners' answers stumble over."""

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.exercises.communication.tensors import groups

F, D = "float32", "float64"
SHAPES: dict[str, list[tuple[tuple[int, ...], str]]] = {  # kind of case → shape and dtype of each gradient
    "float32 gradients": [((3, 4), F), ((4,), F), ((2, 3, 2), F), ((), F), ((5, 1), F)],
    "float32 and float64 by turns": [((4,), D), ((2, 3), F), ((3, 2), D), ((6,), F), ((1,), D)],
    "matrices that are transposed in memory": [((3, 5), F), ((5, 3), F), ((2, 2), D)],
    "a gradient without elements": [((0, 3), F), ((7,), F)],
    "a rank without samples": [((6,), F), ((3, 3), F)],
    "one gradient": [((3,), F)],
    "float64 gradients": [((3,), D), ((2, 2), D)],
    "one float64 gradient among float32": [((2, 3), F), ((5,), D), ((4,), F)],
}  # fmt: skip


def cases(ranks: int, seed: int) -> list[Case]:
    """All kinds in the world; in a group that is not the world one is enough."""
    kinds = [(None, kind) for kind in SHAPES] + [(group, "float32 and float64 by turns") for group in groups(ranks)[1:]]
    return [
        Case(ranks, seed + n, group, {"kind": kind, "trivial": ranks == 1, "told": _told(ranks, group, kind)})
        for n, (group, kind) in enumerate(kinds)
        if ranks > 1 or n < 2
    ]


def _told(ranks: int, group: tuple[int, ...] | None, kind: str) -> str:
    where = f"the group {list(group)} of {ranks} ranks" if group else f"{ranks} ranks" if ranks > 1 else "1 rank"
    return f"{where}, {kind}"


def inputs(case: Case, rank: int) -> tuple[list[Tensor], Tensor, int]:
    """Sums of quarters, and differently many samples on each rank. Where it is float64, the first and the last
    rank have large numbers that cancel: in float32 the quarters are lost."""
    kind, drawn = case.settings["kind"], generator(case, rank)
    samples = int(torch.randint(1, 300, (), generator=drawn)) * (kind != "a rank without samples" or rank != 1)
    gradients = []
    for shape, dtype in SHAPES[kind]:
        sums = torch.randint(-4000, 4000, shape, generator=drawn).double() / 4 * (samples > 0)
        if dtype == D:
            sums = sums + 2.0**31 * ((rank == case.members[0]) - (rank == case.members[-1]))
        value = sums.to(getattr(torch, dtype))
        gradients.append(value.T.contiguous().T if "transposed" in kind else value)
    return gradients, torch.tensor(samples * 0.75 * (-1) ** rank + rank * (samples > 0)), samples


def wanted(case: Case) -> list[tuple[Tensor, ...]]:
    own = [inputs(case, rank) for rank in case.members]
    count = sum(samples for _, _, samples in own)
    sums = [torch.stack(of_ranks).sum(0) for of_ranks in zip(*([*g, loss] for g, loss, _ in own), strict=True)]
    return [tuple(total / count for total in sums)] * case.size
